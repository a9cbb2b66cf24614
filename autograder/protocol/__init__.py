"""What the grader and the ranks say to each other, and nothing else. Both sides import it; it imports none of ours."""
