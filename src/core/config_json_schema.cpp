#include <string>

#include "core/config_schema.hpp"

namespace order_timeout {
namespace {

// A value that is put in when the daemon reads the file may stand wherever a value may.
constexpr std::string_view kSubstituted = R"({"$ref": "#/definitions/substituted"})";

std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string range_text(const SchemaRow& row) {
  if (row.max == 0) return {};
  return ", \"minimum\": " + std::to_string(row.min) + ", \"maximum\": " + std::to_string(row.max);
}

std::string words_text(std::string_view words) {
  std::string text;
  while (true) {
    const std::size_t end = words.find('|');
    text += json_text(words.substr(0, end));
    if (end == std::string_view::npos) return text;
    text += ", ";
    words.remove_prefix(end + 1);
  }
}

// One value, or one entry of a list.
std::string scalar_schema(const SchemaRow& row) {
  switch (row.type) {
    case ValueType::word:
      return R"({"enum": [)" + words_text(row.words) + "]}";
    case ValueType::boolean:
      return R"({"type": "boolean"})";
    case ValueType::number:
      return R"({"type": "number"})";
    case ValueType::integer:
    case ValueType::integer_list:
      return R"({"type": "integer")" + range_text(row) + "}";
    case ValueType::duration:
    case ValueType::duration_list:
      return R"({"type": "string", "pattern": "^([0-9]+(ms|s|m|h|d))+$"})";
    case ValueType::size:
      return R"({"type": "string", "pattern": "^[0-9]+(B|KB|MB|GB|KiB|MiB|GiB)$"})";
    case ValueType::time_of_day:
      return R"({"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"})";
    case ValueType::path:
      return R"({"type": "string", "pattern": "^/"})";
    default:  // status: 0 is as good a text as status: WAIT_PAY
      return R"({"type": ["string", "number", "boolean"]})";
  }
}

std::string leaf_schema(const SchemaRow& row) {
  std::string text = R"("anyOf": [)";
  if (is_list(row.type)) {
    text += R"({"type": "array", "minItems": )" + std::to_string(row.fewest) + R"(, "maxItems": )" +
            std::to_string(row.most) + R"(, "items": {"anyOf": [)" + scalar_schema(row) + ", " +
            std::string{kSubstituted} + "]}}";
  } else {
    text += scalar_schema(row) + ", " + std::string{kSubstituted};
  }
  if (row.nullable) text += R"(, {"type": "null"})";
  return text + "]";
}

std::string description_of(const SchemaRow& row) {
  std::string text = row.built ? "" : "Not in this version. ";
  text += std::string{row.sentence} + " Allowed: " + allowed_text(row) + ".";
  if (row.standard) text += " Default: " + std::string{*row.standard} + ".";
  if (row.restart) text += " A change needs a restart.";
  return text;
}

class Writer {
 public:
  std::string whole() {
    open("{");
    line(R"("$schema": "http://json-schema.org/draft-07/schema#",)");
    line(R"("title": "The configuration of order-timeoutd",)");
    line(R"("definitions": {"substituted": {"type": "string", "pattern": "\\$\\{"}},)");
    section(schema_tree());
    close("}");
    return text_ + "\n";
  }

 private:
  void open(const std::string& words) {
    line(words);
    depth_ += 1;
  }
  void close(const std::string& words) {
    depth_ -= 1;
    line(words);
  }
  void line(const std::string& words) {
    if (!text_.empty()) text_ += "\n";
    text_.append(2 * depth_, ' ');
    text_ += words;
  }

  void section(const SchemaNode& node) {
    const bool nullable = node.row != nullptr && node.row->nullable;
    line(nullable ? R"("type": ["object", "null"],)" : R"("type": "object",)");
    const bool has_names = node.children.front().segment == "*";
    if (has_names) {
      open(R"("additionalProperties": {)");
      content(node.children.front());
      close("}");
      return;
    }
    line(R"("additionalProperties": false,)");
    require(node);
    open(R"("properties": {)");
    for (const SchemaNode& child : node.children) {
      open(json_text(child.segment) + ": {");
      content(child);
      close(&child == &node.children.back() ? "}" : "},");
    }
    close("}");
  }

  void require(const SchemaNode& node) {
    std::string names;
    for (const SchemaNode& child : node.children) {
      if (child.row == nullptr || !child.row->required) continue;
      names += (names.empty() ? "" : ", ") + json_text(child.segment);
    }
    if (!names.empty()) line(R"("required": [)" + names + "],");
  }

  void content(const SchemaNode& node) {
    if (node.row != nullptr) {
      line(R"("description": )" + json_text(description_of(*node.row)) + ",");
    }
    if (node.children.empty()) {
      line(leaf_schema(*node.row));
    } else {
      section(node);
    }
  }

  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string json_schema() { return Writer{}.whole(); }

}  // namespace order_timeout
