"""Results as pages for people: one HTML file each, with its pictures inside, and nothing to fetch.

`pages` has one function per page, the templates beside it have the words, `charts` draws.
"""
