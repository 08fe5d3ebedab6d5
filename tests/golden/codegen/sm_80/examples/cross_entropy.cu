refused: region `nll` needs 262144 bytes of shared memory a block, and sm_90 has 232448
