"""Results as pages for people: one HTML file each, with its pictures inside, and nothing to fetch.

`page` lays out sections and blocks, `charts` draws; the other files decide what a page says.
"""
