"""The modelDevelopmentClusters API on loopback: an emulator for development, demos and tests.

It shares no code with the rest of the package, so that a misunderstanding of the API can't hide in both. What it
knows comes from the documented facts alone; where those disagree, `quirks.Quirks` holds a switch.
"""
