"""The planar reacher and the Panda reacher."""
