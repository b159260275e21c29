"""Colours that figures, pictures and the studio share."""

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#332288", "#999933", "#882255", "#44AA99")
"""Colours of components and methods, which stay apart for colour-blind readers (Okabe and Ito, then Tol)."""
INK, QUIET, FAINT = "#222222", "#8a8a8a", "#e6e6e6"
"""Colours of text and main lines, of what is less important, and of frames."""
