"""Movement primitives, kinematics, descriptors and robots."""
