# Writes OUTPUT, a C++ source with the text of every file of SQL_DIR/{migrations,functions,queries}. A literal is cut
# at line ends into pieces that every compiler takes.
cmake_minimum_required(VERSION 3.25)
set(delimiter "order_timeout")
set(piece_bytes 4000)

function(append_literal text_name)
  set(rest "${${text_name}}")
  set(result "")
  string(FIND "${rest}" ")${delimiter}\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${path} holds the end of a raw string literal")
  endif()
  while(TRUE)
    string(LENGTH "${rest}" left)
    if(left LESS_EQUAL ${piece_bytes})
      string(APPEND result "\n     R\"${delimiter}(${rest})${delimiter}\"")
      break()
    endif()
    string(SUBSTRING "${rest}" 0 ${piece_bytes} piece)
    string(FIND "${piece}" "\n" cut REVERSE)
    if(cut EQUAL -1)
      message(FATAL_ERROR "${path} has a line of more than ${piece_bytes} bytes")
    endif()
    math(EXPR cut "${cut} + 1")
    string(SUBSTRING "${rest}" 0 ${cut} piece)
    string(SUBSTRING "${rest}" ${cut} -1 rest)
    string(APPEND result "\n     R\"${delimiter}(${piece})${delimiter}\"")
  endwhile()
  set(literal "${result}" PARENT_SCOPE)
endfunction()

set(entries "")
foreach(folder functions migrations queries)
  file(GLOB names RELATIVE "${SQL_DIR}" "${SQL_DIR}/${folder}/*.sql")
  list(SORT names)
  if(NOT names)
    message(FATAL_ERROR "no SQL files in ${SQL_DIR}/${folder}")
  endif()
  foreach(path IN LISTS names)
    file(READ "${SQL_DIR}/${path}" content)
    append_literal(content)
    string(APPEND entries "    {\"${path}\",${literal}},\n")
  endforeach()
endforeach()

set(source [=[
// Written by embed_sql.cmake from the files of sql/; not to be edited.
#include "postgres/embedded_sql.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace order_timeout::postgres {

namespace {

struct EmbeddedFile {
  std::string_view path;
  std::string_view text;
};

// Sorted by path.
constexpr EmbeddedFile kFiles[] = {
@entries@};

}  // namespace

std::string_view embedded_sql(std::string_view path) {
  const auto* found = std::ranges::lower_bound(kFiles, path, {}, &EmbeddedFile::path);
  if (found == std::end(kFiles) || found->path != path) {
    std::fprintf(stderr, "no file sql/%s was embedded\n", std::string(path).c_str());
    std::abort();
  }
  return found->text;
}

std::vector<std::string_view> embedded_sql_paths(std::string_view folder) {
  const std::string prefix = std::string(folder) + "/";
  std::vector<std::string_view> paths;
  for (const EmbeddedFile& file : kFiles) {
    if (file.path.starts_with(prefix)) paths.push_back(file.path);
  }
  return paths;
}

}  // namespace order_timeout::postgres
]=])
string(REPLACE "@entries@" "${entries}" source "${source}")
file(WRITE "${OUTPUT}" "${source}")
