"""The reference solutions, one module a problem; the handout's stubs are cut from them."""
