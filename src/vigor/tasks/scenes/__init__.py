"""Scenes: tasks written as data: a robot, the objects around it, perhaps a gripper. Opening one runs nothing."""
