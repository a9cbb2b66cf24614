"""The grader: trusted checks on one side, students' functions in ranks of their own on the other."""
