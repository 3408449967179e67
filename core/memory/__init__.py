"""What people's votes teach: pairs of question and answer, of which the good ones are reused.

Open `community.py` first: `CommunityMemory` takes votes and answers the pipeline. `recall.py` finds the pairs
near a question, `decision.py` decides whether one is reused, `scoring.py` what votes are worth.
"""
