#include <string>

#include "core/config_schema.hpp"
#include "order_timeout/durations.hpp"

namespace order_timeout {
namespace {

// The children of one node in the table's order; `path` is a dotted key.
void insert(SchemaNode& node, const SchemaRow& row, std::string_view path) {
  const std::size_t dot = path.find('.');
  const std::string_view segment = path.substr(0, dot);
  SchemaNode* next = nullptr;
  for (SchemaNode& child : node.children) {
    if (child.segment == segment) next = &child;
  }
  if (next == nullptr) next = &node.children.emplace_back(SchemaNode{segment, nullptr, {}});
  if (dot == std::string_view::npos) {
    next->row = &row;
  } else {
    insert(*next, row, path.substr(dot + 1));
  }
}

SchemaNode build_tree() {
  SchemaNode root;
  for (const SchemaRow& row : schema_rows()) insert(root, row, row.key);
  return root;
}

std::string words_of(std::string_view words) {
  std::string text{words};
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at)) {
    text.replace(at, 1, " | ");
    at += 3;
  }
  return text;
}

std::string range_of(const SchemaRow& row) {
  return std::to_string(row.min) + " to " + std::to_string(row.max);
}

std::string duration_range_of(const SchemaRow& row) {
  if (row.max == 0) return {};
  return " from " + format_duration(Duration{row.min}) + " to " +
         format_duration(Duration{row.max});
}

std::string entries_of(const SchemaRow& row) {
  return std::to_string(row.fewest) + " to " + std::to_string(row.most) + " ";
}

std::string allowed_list(const SchemaRow& row) {
  switch (row.type) {
    case ValueType::text_list:
      return "a list of " + entries_of(row) + "texts";
    case ValueType::column_list:
      return "a list of " + entries_of(row) + "column names";
    case ValueType::event_list:
      return "a list of " + entries_of(row) + "names of events";
    case ValueType::integer_list:
      return "a list of " + entries_of(row) + "whole numbers from " + range_of(row);
    default:
      return "a list of " + entries_of(row) + "durations" + duration_range_of(row);
  }
}

std::string allowed_scalar(const SchemaRow& row) {
  switch (row.type) {
    case ValueType::section:
      return "a section of keys";
    case ValueType::text:
      return "text";
    case ValueType::postgres_url:
      return "postgresql://... or key=value pairs";
    case ValueType::redis_url:
      return "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB] or unix:///PATH";
    case ValueType::event_url:
      return "http://HOST[:PORT]/PATH";
    case ValueType::table_name:
      return "[SCHEMA.]TABLE, each 1 to 63 bytes";
    case ValueType::column_name:
      return "a column's name, 1 to 63 bytes";
    case ValueType::time_zone:
      return "a time zone such as Asia/Shanghai or UTC";
    case ValueType::path:
      return "an absolute path";
    case ValueType::address:
      return "HOST:PORT or [IPV6]:PORT";
    case ValueType::time_of_day:
      return "HH:MM";
    case ValueType::word:
      return words_of(row.words);
    case ValueType::number:
      return "a number such as 0.5";
    case ValueType::boolean:
      return "true | false";
    case ValueType::integer:
      return row.max == 0 ? "a whole number" : "a whole number from " + range_of(row);
    case ValueType::duration:
      return "a duration" + duration_range_of(row);
    case ValueType::size:
      return "a size from 1KB to 1000GB";
    case ValueType::header_value:
      return "one line of text";
    default:
      return allowed_list(row);
  }
}

// A cell of a Markdown table.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, 1, '\\');
  }
  return text;
}

std::string standard_cell(const SchemaRow& row) {
  if (row.required) return "required";
  if (!row.standard) return "none";
  return "`" + cell(std::string{*row.standard}) + "`";
}

std::string reference_row(const SchemaRow& row) {
  std::string text = "| `" + std::string{row.key} + "` | " + cell(allowed_text(row)) + " | ";
  text += standard_cell(row) + " | ";
  text += row.restart ? "restart | " : " | ";
  if (!row.built) text += "*Not in this version.* ";
  return text + cell(std::string{row.sentence}) + " |\n";
}

}  // namespace

const SchemaNode& schema_tree() {
  static const SchemaNode root = build_tree();
  return root;
}

const SchemaNode* SchemaNode::child(std::string_view name) const {
  for (const SchemaNode& each : children) {
    if (each.segment == name || each.segment == "*") return &each;
  }
  return nullptr;
}

bool is_list(ValueType type) { return type >= ValueType::text_list; }

std::string allowed_text(const SchemaRow& row) {
  return allowed_scalar(row) + (row.nullable ? ", or ~" : "");
}

std::string markdown_reference() {
  std::string text{kReferenceBegin};
  text += "\n| key | allowed | default | change | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const SchemaRow& row : schema_rows()) text += reference_row(row);
  text += kReferenceEnd;
  return text;
}

}  // namespace order_timeout
