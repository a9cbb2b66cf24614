raise SystemExit("this is no numpy")
