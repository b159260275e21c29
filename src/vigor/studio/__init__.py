"""The studio: record demonstrations in a browser, watch them being learned, drag targets and see plans.

`session.py` knows what happens and has no page; `scene.py` and `panel.py` show it with viser; `app.py` serves it.
"""
