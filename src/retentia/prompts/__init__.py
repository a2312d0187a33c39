"""Prompts: what chat models are told, as data."""
