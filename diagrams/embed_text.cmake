# Writes OUTPUT, a C++ source that defines FUNCTION in namespace napkin, returning the text of INPUT.
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"\n\nnamespace napkin {\n\n"
     "const char* ${FUNCTION}() {\n    return R\"napkin(${text})napkin\";\n}\n\n}  // namespace napkin\n")
