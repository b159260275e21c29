"""Ground that everything stands on: errors, files, settings, devices, batches."""
