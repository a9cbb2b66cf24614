raise SystemExit("this is no autograder")
