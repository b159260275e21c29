"""VIGOR: versatile behaviour from a handful of demonstrations."""
