// Proves least privilege by trying: what each role must be able to do it can, and what it must not
// is refused (42501).
#include "support/close_fixture.hpp"

namespace order_timeout::testing {
namespace {

class Privileges : public CloseFixture {
 protected:
  Privileges() {
    // Roles without login are worn by one that has it.
    shop_.exec(
        "DO $$ BEGIN CREATE ROLE shop_login LOGIN IN ROLE order_timeout_shop; EXCEPTION WHEN "
        "duplicate_object THEN NULL; END $$;"
        "DO $$ BEGIN CREATE ROLE reader_login LOGIN IN ROLE order_timeout_reader; EXCEPTION WHEN "
        "duplicate_object THEN NULL; END $$");
  }

  static void may(Session& session, const std::string& sql) {
    const auto error = session.refused(sql);
    EXPECT_FALSE(error) << sql << ": " << error->message;
  }

  static void may_not(Session& session, const std::string& sql) {
    const auto error = session.refused(sql);
    ASSERT_TRUE(error) << sql;
    EXPECT_EQ(error->sqlstate, "42501") << sql << ": " << error->message;
  }

  Session operator_{server_.url(database_, "order_timeout_operator")};
};

TEST_F(Privileges, TheDaemonDoesItsWork) {
  may(daemon_, "SELECT * FROM order_timeout.shop_order");
  may(daemon_, "SELECT * FROM order_timeout.timed_order");
  may(daemon_, "SELECT * FROM order_timeout.order_deadline");
  may(daemon_, "SELECT * FROM order_timeout.close_orders('{1}', NULL)");
  may(daemon_, "SELECT order_timeout.oldest_transaction_start()");
  may(daemon_, "SELECT * FROM order_timeout.mapping_state('{}')");
  may(daemon_, "SELECT order_timeout.retire_events('7 days', 10)");
  may(daemon_, "SELECT order_timeout.watch_closed('{1}')");
  may(daemon_, "SELECT order_timeout.hold_for_payment(1, 'why')");
  may(daemon_, "UPDATE order_timeout.notice SET told_at = now()");
  may(daemon_,
      "UPDATE order_timeout.outbox SET status = 'SUCCESS', attempts = 1, next_attempt_at = now(), "
      "last_error = NULL, finished_at = now(), leased_by = 'me', leased_until = now()");
  may(daemon_, "UPDATE order_timeout.timeout_task SET status = 'DONE'");
  may(daemon_, "DELETE FROM order_timeout.timeout_task");
  may(daemon_, "INSERT INTO order_timeout.sweep_run (kind) VALUES ('NIGHTLY') RETURNING id");
  may(daemon_, "UPDATE order_timeout.sweep_run SET status = 'SUCCESS'");
  may(daemon_,
      "INSERT INTO order_timeout.pause (scope, \"by\", reason) VALUES ('all', 'guard', 'r')");
  may(daemon_, "UPDATE order_timeout.pause SET until = now()");
  may(daemon_, "DELETE FROM order_timeout.pause");
  for (const std::string table :
       {"rule", "hold", "quarantine", "deadline_override", "pause", "closed_order", "shop_mapping",
        "outbox", "timeout_task", "sweep_run", "schema_version"}) {
    may(daemon_, "SELECT * FROM order_timeout." + table);
  }
}

TEST_F(Privileges, TheDaemonCannotTouchTheShop) {
  may_not(daemon_, "UPDATE t_order SET status = 'CLOSED'");
  may_not(daemon_, "SELECT * FROM t_order");
  may_not(daemon_, "SELECT * FROM t_payment");
  may_not(daemon_, "UPDATE order_timeout.shop_order SET status = 'CLOSED'");
  may_not(daemon_, "SELECT id FROM order_timeout.shop_order FOR UPDATE");
}

TEST_F(Privileges, TheDaemonCannotCloseByHandOrForgeRecords) {
  may_not(daemon_,
          "SELECT * FROM order_timeout.close_orders_by_hand('{1}', true, 'me', 'because')");
  may_not(daemon_, "SELECT * FROM order_timeout.judge_and_close('{1}', NULL, true, true)");
  may_not(daemon_,
          "INSERT INTO order_timeout.outbox (event_key, order_id, order_no, event_type, payload) "
          "VALUES ('x', 1, 'x', 'x', '{}')");
  may_not(daemon_, "UPDATE order_timeout.outbox SET payload = '{}'");
  may_not(daemon_, "DELETE FROM order_timeout.outbox");
  may_not(daemon_, "UPDATE order_timeout.rule SET timeout = '1 s'");
  may_not(daemon_,
          "INSERT INTO order_timeout.deadline_override (order_id, deadline) VALUES (1, now())");
  may_not(daemon_, "DELETE FROM order_timeout.hold");
  may_not(daemon_, "INSERT INTO order_timeout.hold VALUES (1, 'r', 'lin')");
  may_not(daemon_, "SELECT order_timeout.hold_order(1, 'lin', 'r')");
  may_not(daemon_, "SELECT order_timeout.unhold_order(1, 'lin', 'r')");
  may_not(daemon_, "SELECT order_timeout.pay_order(1, 'P1', 1)");
  may_not(daemon_, "SELECT order_timeout.extend_order(1, now(), 'r')");
  may_not(daemon_, "DELETE FROM order_timeout.payment");
  may_not(daemon_, "DELETE FROM order_timeout.notice");
  may_not(daemon_, "DELETE FROM order_timeout.quarantine");
  may_not(daemon_, "DELETE FROM order_timeout.closed_order");
  may_not(daemon_, "INSERT INTO order_timeout.timeout_task (order_no, due_at) VALUES ('x', now())");
  may_not(daemon_, "SET ROLE order_timeout_owner");
  may_not(daemon_, "CREATE TABLE order_timeout.mine ()");
}

TEST_F(Privileges, TheOperatorClosesByHandAndHoldsButWritesNoOrders) {
  may(operator_, "SELECT * FROM order_timeout.close_orders_by_hand('{1}', false, 'lin', 'why')");
  may(operator_, "INSERT INTO order_timeout.hold VALUES (1, 'r', 'lin')");
  may(operator_, "DELETE FROM order_timeout.hold");
  may(operator_,
      "INSERT INTO order_timeout.pause (scope, \"by\", reason) VALUES ('all', 'lin', 'r')");
  may(operator_, "DELETE FROM order_timeout.pause");
  may(operator_, "DELETE FROM order_timeout.quarantine");
  may(operator_, "SELECT order_timeout.hold_order(1, 'lin', 'r')");
  may(operator_, "SELECT order_timeout.unhold_order(1, 'lin', 'r')");
  may_not(operator_, "SELECT order_timeout.pay_order(1, 'P1', 1)");
  may_not(operator_, "SELECT order_timeout.set_hold(1, 'payment_check', 'r')");
  may_not(operator_, "DELETE FROM order_timeout.payment");
  for (const std::string relation :
       {"shop_order", "timed_order", "order_deadline", "outbox", "rule", "review",
        "shadow_decision", "sweep_run", "shop_mapping"}) {
    may(operator_, "SELECT * FROM order_timeout." + relation);
  }
  may_not(operator_, "UPDATE t_order SET status = 'CLOSED'");
  may_not(operator_, "SELECT * FROM order_timeout.judge_and_close('{1}', NULL, true, true)");
  may_not(operator_, "SELECT order_timeout.apply_rules(NULL, '{}')");
  may_not(operator_, "UPDATE order_timeout.outbox SET status = 'SUCCESS'");
}

TEST_F(Privileges, TheShopPaysExtendsReadsDeadlinesAndSendsTasks) {
  place(1, 0);
  Session login(server_.url(database_, "shop_login"));
  EXPECT_EQ(login.value("SELECT order_no FROM order_timeout.order_deadline WHERE order_id = 1"),
            "N1");
  may(login, "INSERT INTO order_timeout.timeout_task (order_no, due_at) VALUES ('N1', now())");
  may(login, "SELECT order_timeout.extend_order(1, now() + interval '1 day', 'asked')");
  may(login, "SELECT order_timeout.pay_order(1, 'P1', 1990)");
  may_not(login, "SELECT order_timeout.record_payment(1, 'P2', 1, 'REFUND', 'r', 'me')");
  may_not(login, "SELECT * FROM order_timeout.payment");
  may_not(login, "SELECT * FROM order_timeout.shop_order");
  may_not(login, "SELECT * FROM order_timeout.close_orders('{1}', NULL)");
  may_not(login, "SELECT * FROM order_timeout.outbox");
}

TEST_F(Privileges, TheReaderOnlyReads) {
  Session login(server_.url(database_, "reader_login"));
  may(login, "SELECT * FROM order_timeout.timed_order");
  may(login, "SELECT * FROM order_timeout.outbox");
  may_not(login, "DELETE FROM order_timeout.outbox");
  may_not(login, "SELECT * FROM order_timeout.close_orders('{1}', NULL)");
}

TEST_F(Privileges, NothingIsForEveryone) {
  EXPECT_EQ(
      shop_.value(
          "SELECT count(*) FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', "
          "p.proowner))) a WHERE p.pronamespace = 'order_timeout'::regnamespace AND a.grantee = 0"),
      "0");
  EXPECT_EQ(
      shop_.value("SELECT count(*) FROM pg_class c, aclexplode(c.relacl) a WHERE c.relnamespace = "
                  "'order_timeout'::regnamespace AND a.grantee = 0"),
      "0");
}

TEST_F(Privileges, TheOwnerMayWriteFourColumnsOfTheShopAndCannotLogIn) {
  EXPECT_EQ(
      shop_.value("SELECT string_agg(column_name, ',' ORDER BY column_name) FROM "
                  "information_schema.column_privileges WHERE grantee = 'order_timeout_owner' AND "
                  "privilege_type <> 'SELECT' AND table_schema = 'public'"),
      "closed_at,paid_at,status,version");
  EXPECT_EQ(
      shop_.value(
          "SELECT rolcanlogin OR rolsuper FROM pg_roles WHERE rolname = 'order_timeout_owner'"),
      "f");
}

TEST_F(Privileges, EveryDefinerFunctionFixesItsSearchPath) {
  EXPECT_EQ(
      shop_.value(
          "SELECT count(*) FROM pg_proc WHERE pronamespace = 'order_timeout'::regnamespace AND "
          "prosecdef AND NOT coalesce(proconfig::text LIKE '%search_path=pg_catalog, "
          "order_timeout, pg_temp%', false)"),
      "0");
  EXPECT_GT(std::stoi(shop_.value("SELECT count(*) FROM pg_proc WHERE pronamespace = "
                                  "'order_timeout'::regnamespace AND prosecdef")),
            6);
}

}  // namespace
}  // namespace order_timeout::testing
