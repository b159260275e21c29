"""Plans for new contexts, constraints, and trajectories for robots."""
