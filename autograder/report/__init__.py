"""One result model; terminal, Gradescope JSON, JUnit, HTML and CSV are renderings of it."""
