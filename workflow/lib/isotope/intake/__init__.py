"""The boundary: pictures, archives and records from outside are opened here and nowhere else.

Whatever a library raises on such bytes becomes a reason, which the caller writes beside the file,
the member or the row; what isotope's own code raises is a fault of isotope and ends the job.
"""
