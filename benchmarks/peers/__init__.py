"""Peers: other memories under the same measurement. Each file runs in the peers' own environment."""
