refused: region `weight` does not fit target `sm_80`: `gate` is a selection of several elements
