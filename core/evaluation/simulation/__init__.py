"""ComRAG's real-time setting on labelled questions: a community asks, answers and votes, round by round."""
