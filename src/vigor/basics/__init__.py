"""What everything stands on: errors, files, devices, batches."""
