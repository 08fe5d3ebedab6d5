# A room is a part of a folder: a library that finds its own headers and those of the rooms that it uses, and no others,
# so that an arrow the wrong way does not build. Its headers are those of its FOLDERS, and of the folder above these the
# FACES by which the rest of the program knows it; they are linked into an include folder of its own.
#
#   napkin_room(NAME FOLDERS ... FACES ... SOURCES ... USES ...)
function(napkin_room name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;FACES;SOURCES;USES" ${ARGN})
  foreach(folder IN LISTS ARG_FOLDERS)
    file(GLOB_RECURSE own RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${folder}/*.h)
    list(APPEND ARG_FACES ${own})
  endforeach()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE here)
  set(include ${PROJECT_BINARY_DIR}/include/${name})
  file(REMOVE_RECURSE ${include})
  foreach(header IN LISTS ARG_FACES)
    cmake_path(GET header PARENT_PATH folder)
    file(MAKE_DIRECTORY ${include}/${here}/${folder})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${header} ${include}/${here}/${header} SYMBOLIC)
  endforeach()
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${include})
  target_link_libraries(${name} PUBLIC napkin_flags ${ARG_USES})
endfunction()
