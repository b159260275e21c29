"""Policies, and how good and how versatile they are."""
