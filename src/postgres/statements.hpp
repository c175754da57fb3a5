// SQL text made from templates and the shop's names; nothing else builds SQL. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "order_timeout/config.hpp"

namespace order_timeout::postgres {

// "name" with inner quotes doubled. Throws std::invalid_argument unless it has 1 to 63 bytes and no
// NUL.
std::string quote_identifier(std::string_view name);

// "schema"."name" from schema.name; a name without a schema is in public. Throws as
// quote_identifier does, and where there is more than one dot.
std::string quote_table(std::string_view name);

// 'text' with inner quotes doubled, for standard_conforming_strings. Throws std::invalid_argument
// on a NUL.
std::string quote_literal(std::string_view text);

using Tokens = std::map<std::string, std::string, std::less<>>;

// Puts the value in place of each {{token}}, in one pass: a value is never searched again. A token
// without a value is a mistake of ours: named on stderr, then abort.
std::string render(std::string_view template_text, const Tokens& tokens);

// What the templates of sql/functions may name: the shop's tables, columns (`o."id"`; a typed NULL
// where a column is not mapped), values, and `tag`, a dollar quote that occurs in none of them.
// Throws as the quoting does.
Tokens mapping_tokens(const OrderTableConfig& mapping);

// render() with mapping_tokens().
std::string render_function(std::string_view template_text, const OrderTableConfig& mapping);

// The mapping as JSON, always the same text for the same mapping: what migrate records and the
// daemon compares.
std::string mapping_text(const OrderTableConfig& mapping);

}  // namespace order_timeout::postgres
