"""What a report tells beyond the core: drift alarms, faded scores, a second recogniser, confidences, holdout.

`records` lays a recording out as one record a slice, `others` reads what comes beside truth and prediction,
`figures` computes, `feed` and `parity` are for the node, `report` and `document` for people and programs.
"""
