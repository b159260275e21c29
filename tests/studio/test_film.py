"""Films: what goes on beside a movement stands still at its own end."""

import numpy as np

from vigor.studio.film import Film
from vigor.tasks.stage import Picture


def test_others_go_on_beside_it():
    long, short = ([Picture(np.full((2, 3), float(i)), np.zeros(2)) for i in range(n)] for n in (11, 4))
    film = Film(long, 10.0, 1.0, [("way", short)])
    film.advance(0.25)
    assert (film.words, film.beside) == ("playing", [("way", short[2])])
    film.toggle()
    assert film.words == "paused"
    film.toggle()
    film.advance(5.0)
    assert (film.time, film.words, film.beside) == (1.0, "played to its end", [("way", short[3])])
