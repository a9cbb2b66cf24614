raise SystemExit("this is no torch")
