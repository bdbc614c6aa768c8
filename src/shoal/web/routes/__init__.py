"""What the page may ask for. A module a step: ``view`` gives what its template shows, routes take what was clicked."""
