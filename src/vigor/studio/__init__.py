"""The studio: record demonstrations in a browser, watch them being learned, drag targets and see plans.

`session.py` and its parts know what happens and have no page; `scene.py` and `panel.py` show it with viser; `app.py`
serves it.
"""
