// Proves that a shop may have its own types and names: every kind of id, order number, status and
// time closes by the same rule, columns that are not mapped do no harm, and names that would break
// careless SQL are just names.
#include "integration/postgres/bare_shop_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::ElementsAre;

class ShopTypes : public BareShop {};

TEST_F(ShopTypes, ABareTableIsEnough) {
  shop_.exec(
      "CREATE TABLE orders (id smallint PRIMARY KEY, no varchar(20), line varchar(9), status "
      "varchar(9), "
      "created timestamptz);"
      "INSERT INTO orders VALUES (1, 'N1', 'x', 'WAIT_PAY', now() - interval '71 s'), "
      "(2, 'N2', 'x', 'WAIT_PAY', now() - interval '69 s')");
  migrate();
  EXPECT_THAT(close("1,2,70000"), ElementsAre("closed", "not_due", "missing"));
  EXPECT_EQ(
      shop_.value("SELECT payload - 'closed_at' FROM order_timeout.outbox"),
      R"({"amount": null, "user_id": null, "order_id": 1, "order_no": "N1", "business_line": "x"})");
}

TEST_F(ShopTypes, AVersionMayBeMillisecondsOrNegative) {
  shop_.exec(
      "CREATE TABLE orders (id int PRIMARY KEY, no text, line text, status text, created "
      "timestamptz, v bigint);"
      "INSERT INTO orders SELECT n, n, 'x', 'WAIT_PAY', now() - interval '71 s', v FROM "
      "unnest(ARRAY[1700000000000, -5, 7]) WITH ORDINALITY AS t (v, n)");
  mapping_.columns.version = "v";
  migrate();
  const std::string tracked =
      shop_.value("SELECT array_agg(version ORDER BY id)::text FROM order_timeout.shop_order");
  shop_.exec("UPDATE orders SET v = v + 1 WHERE id = 3");
  Session daemon(server_.url(database_, "order_timeout_daemon"));
  EXPECT_EQ(daemon.value("SELECT string_agg(order_id || outcome, ' ' ORDER BY order_id)"
                         " FROM order_timeout.close_orders('{1,2,3}', '" +
                         tracked + "')"),
            "1closed 2closed 3version_moved");
  EXPECT_EQ(shop_.value("SELECT string_agg(v::text, ' ' ORDER BY id) FROM orders"),
            "1700000000001 -4 8");
}

TEST_F(ShopTypes, AnEnumIsAStatus) {
  shop_.exec(
      "CREATE TYPE state AS ENUM ('WAIT_PAY', 'CLOSED', 'PAID', 'SHIPPED');"
      "CREATE TABLE orders (id int PRIMARY KEY, no text, line text, status state, created "
      "timestamptz);"
      "INSERT INTO orders SELECT n, n, 'x', (enum_range(NULL::state))[n], now() - interval '71 s' "
      "FROM generate_series(1, 4) n");
  migrate();
  EXPECT_THAT(close("1,2,3,4"),
              ElementsAre("closed", "already_closed", "already_paid", "other_status"));
  EXPECT_EQ(shop_.value("SELECT status FROM orders WHERE id = 1"), "CLOSED");
}

TEST_F(ShopTypes, AnIntegerIsAStatusAndABigintAnOrderNumber) {
  shop_.exec(
      "CREATE TABLE orders (id bigint PRIMARY KEY, no bigint, line text, status smallint, created "
      "timestamptz, v bigint, who uuid, price numeric(12,2));"
      "INSERT INTO orders VALUES (1, 777, 'x', 0, now() - interval '71 s', 3, "
      "'00000000-0000-0000-0000-000000000001', 19.90)");
  mapping_.pending = "0";
  mapping_.closed = "-1";
  mapping_.paid = "1";
  mapping_.columns.version = "v";
  mapping_.columns.user_id = "who";
  mapping_.columns.amount = "price";
  migrate();
  EXPECT_THAT(close("1"), ElementsAre("closed"));
  EXPECT_THAT(shop_.rows("SELECT status, v FROM orders"), ElementsAre(Row{"-1", "4"}));
  EXPECT_EQ(
      shop_.value("SELECT payload - 'closed_at' FROM order_timeout.outbox"),
      R"({"amount": 19.90, "user_id": "00000000-0000-0000-0000-000000000001", "order_id": 1, )"
      R"("order_no": "777", "business_line": "x"})");
}

TEST_F(ShopTypes, ATimestampIsReadAndWrittenInTheShopsZone) {
  shop_.exec(
      "CREATE TABLE orders (id int PRIMARY KEY, no text, line text, status text, created "
      "timestamp, "
      "done timestamp, pay_by timestamp);"
      "INSERT INTO orders SELECT n, n, 'x', 'WAIT_PAY', now() AT TIME ZONE 'Asia/Shanghai' - "
      "interval '1 s' * (68 + n) FROM generate_series(1, 3) n;"
      "UPDATE orders SET pay_by = now() AT TIME ZONE 'Asia/Shanghai' WHERE id = 3");
  mapping_.time_zone = "Asia/Shanghai";
  mapping_.columns.closed_at = "done";
  mapping_.columns.deadline = "pay_by";
  migrate();
  EXPECT_THAT(close("1,2,3"), ElementsAre("not_due", "closed", "not_due"));
  EXPECT_EQ(
      shop_.value(
          "SELECT abs(extract(epoch FROM done AT TIME ZONE 'Asia/Shanghai' - now())) < 60 FROM "
          "orders WHERE id = 2"),
      "t");
}

TEST_F(ShopTypes, AnOwnDeadlineCountsAndAnEmptyOneDoesNot) {
  shop_.exec(
      "CREATE TABLE orders (id int PRIMARY KEY, no text, line text, status text, created "
      "timestamptz, "
      "pay_by timestamptz);"
      "INSERT INTO orders VALUES (1, '1', 'x', 'WAIT_PAY', now() - interval '71 s', now()),"
      "(2, '2', 'x', 'WAIT_PAY', now(), now() - interval '11 s'),"
      "(3, '3', 'x', 'WAIT_PAY', now() - interval '71 s', NULL),"
      "(4, '4', 'x', 'WAIT_PAY', now(), '-infinity'), (5, '5', 'x', 'WAIT_PAY', now(), "
      "'infinity')");
  mapping_.columns.deadline = "pay_by";
  migrate();
  EXPECT_THAT(close("1,2,3,4,5"), ElementsAre("not_due", "closed", "closed", "closed", "not_due"));
  EXPECT_EQ(shop_.value(
                "SELECT string_agg(deadline_from, ',' ORDER BY id) FROM order_timeout.timed_order"),
            "own,own,timeout,own,own");
}

TEST_F(ShopTypes, NamesAreJustNames) {
  shop_.exec(
      "CREATE SCHEMA \"select\";"
      "CREATE TABLE \"select\".\"订单 \"\"o\"\"; --\" (\"order\" bigint PRIMARY KEY, \"编号\" "
      "text, "
      "\"group\" text, \"st'atus\" text, \"$body$\" timestamptz, \"{{id}}\" int, \"version\" int);"
      "CREATE TABLE \"select\".\"items\" (\"table\" bigint, \"sku's\" int, \"数量\" int);"
      "INSERT INTO \"select\".\"订单 \"\"o\"\"; --\" VALUES (1, '号1', 'x', 'it''s $body$ "
      "{{tag}}', "
      "now() - interval '71 s', 5, 0);"
      "INSERT INTO \"select\".items VALUES (1, 10, 2)");
  mapping_.name = "select.订单 \"o\"; --";
  mapping_.columns = {.id = "order",
                      .order_no = "编号",
                      .user_id = "",
                      .business_line = "group",
                      .status = "st'atus",
                      .created_at = "$body$",
                      .version = "version",
                      .deadline = "",
                      .amount = "{{id}}",
                      .closed_at = "",
                      .paid_at = ""};
  mapping_.pending = "it's $body$ {{tag}}";
  mapping_.closed = "关闭\\'";
  mapping_.items = {.table = "select.items", .order_id = "table", .columns = {"sku's", "数量"}};
  migrate();
  EXPECT_THAT(close("1"), ElementsAre("closed"));
  EXPECT_EQ(shop_.value("SELECT \"st'atus\" || version FROM \"select\".\"订单 \"\"o\"\"; --\""),
            "关闭\\'1");
  EXPECT_EQ(shop_.value("SELECT payload->'items' FROM order_timeout.outbox"),
            R"([{"sku's": 10, "数量": 2}])");
  EXPECT_EQ(shop_.value("SELECT count(*) FROM order_timeout.mapping_state((SELECT mapping FROM "
                        "order_timeout.shop_mapping)) WHERE fits"),
            "1");
}

TEST_F(ShopTypes, APartitionedTableWorks) {
  shop_.exec(
      "CREATE TABLE orders (id bigint PRIMARY KEY, no text, line text, status text, created "
      "timestamptz) "
      "PARTITION BY RANGE (id); CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM (0) TO "
      "(10);"
      "CREATE TABLE orders_2 PARTITION OF orders FOR VALUES FROM (10) TO (20);"
      "INSERT INTO orders SELECT n, n, 'x', 'WAIT_PAY', now() - interval '71 s' FROM "
      "unnest(array[1, 11]) n");
  migrate();
  EXPECT_THAT(close("1,11"), ElementsAre("closed", "closed"));
}

// One that PostgreSQL can write through: the row below it is locked and closed.
TEST_F(ShopTypes, AViewIsAnOrderTable) {
  shop_.exec(
      "CREATE TABLE kept (id bigint PRIMARY KEY, number text, kind text, state text, made "
      "timestamptz, region text);"
      "CREATE VIEW orders AS SELECT id, number AS no, kind AS line, state AS status, made AS "
      "created "
      "FROM kept WHERE region = 'north';"
      "INSERT INTO kept SELECT n, n, 'x', 'WAIT_PAY', now() - interval '71 s', "
      "CASE n WHEN 3 THEN 'south' ELSE 'north' END FROM generate_series(1, 3) n");
  migrate();
  Session payer(server_.url(database_));
  payer.begin();
  payer.exec("SELECT FROM kept WHERE id = 2 FOR UPDATE");
  EXPECT_THAT(close("1,2,3"), ElementsAre("closed", "locked", "missing"));
  payer.commit();
  EXPECT_EQ(shop_.value("SELECT string_agg(state, ',' ORDER BY id) FROM kept"),
            "CLOSED,WAIT_PAY,WAIT_PAY");
}

TEST_F(ShopTypes, NamesMayHaveSixtyThreeBytes) {
  const std::string table(63, 't');
  const std::string column =
      std::string(21, 'c') + "订单编号订单编号订单编号订单";  // 21 + 42 bytes
  ASSERT_EQ(column.size(), 63U);
  shop_.exec("CREATE TABLE " + table + " (id bigint PRIMARY KEY, \"" + column +
             "\" text, line text, status text, created timestamptz);"
             "INSERT INTO " +
             table + " VALUES (1, 'N1', 'x', 'WAIT_PAY', now() - interval '71 s')");
  mapping_.name = table;
  mapping_.columns.order_no = column;
  migrate();
  EXPECT_THAT(close("1"), ElementsAre("closed"));
}

}  // namespace
}  // namespace order_timeout::testing
