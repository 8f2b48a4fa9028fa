"""What tests share; a package, since one that is installed has this name, too."""
