"""The machinery that every run needs behind the modules at the root of `synth`."""
