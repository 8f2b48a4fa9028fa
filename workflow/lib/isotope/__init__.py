"""isotope: rebuild the AToMiC collection from any Wikipedia snapshot, and measure systems on it."""
