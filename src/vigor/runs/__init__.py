"""Runs: settings, the training loop, checkpoints."""
