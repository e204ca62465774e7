"""Stands between a kernel of Jupyter and the host of the notebook, and dies with either. Python 3.8 and newer, with pyzmq and jupyter_client."""
