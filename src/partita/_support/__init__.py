"""Helpers that every package may use and no user imports. Nothing here knows tables or models."""
