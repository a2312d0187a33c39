"""Metering: what model calls take is counted, priced and limited."""
