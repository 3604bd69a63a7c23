//! The daemons as a user runs them: processes in network namespaces, kernel TCP at both ends, links of virtual
//! Ethernet. Everything is made by the tests and goes with them; only processes started here are ended.
//!
//! `cargo test --test daemons [-- NAME]`. Works as root, and without where user namespaces are allowed.

mod attacks;
mod control;
mod events;
mod hardening;
mod many;
mod neighbours;
mod network;
mod paused;
#[path = "../support/process.rs"]
mod process;
mod receipts;
mod relay;
mod routes;
mod scenarios;
mod sealed;
mod transfer;
mod workers;

use prismux_daemons::config::{MemberConfig, ProxyConfig};
use prismux_daemons::{logging, member, proxy};
use prismux_namespaces::Test;
use std::path::Path;
use std::process::ExitCode;

const TESTS: &[Test] = &[
    ("a_download_over_two_members_arrives_whole_by_gre", scenarios::download_by_gre),
    ("a_download_over_two_members_arrives_whole_by_udp", scenarios::download_by_udp),
    ("an_ipv6_download_arrives_whole", scenarios::download_of_ipv6),
    ("an_upload_and_datagrams_pass", scenarios::upload_and_datagrams),
    ("a_clean_shutdown_leaves_nothing", scenarios::clean_shutdown),
    ("a_killed_member_is_missed_and_comes_back", scenarios::killed_member),
    ("a_proxy_that_was_stopped_for_a_while_misses_nobody", paused::proxy),
    ("a_killed_proxy_picks_up_connections_in_mid_stream", scenarios::killed_proxy),
    ("malformed_and_foreign_packets_are_counted", scenarios::hostile_packets),
    ("a_forged_path_mtu_does_not_stop_a_download", attacks::forged_path_mtu),
    ("who_sends_as_the_proxy_reaches_receivers_alone", attacks::injected_packets),
    ("a_download_over_sealed_tunnels_arrives_whole", sealed::download),
    ("a_killed_proxy_gets_new_keys_with_its_members", sealed::killed_proxy),
    ("what_was_recorded_or_changed_on_the_path_is_refused", sealed::attacker_on_the_path),
    ("a_member_whose_rights_are_revoked_is_out_and_a_download_goes_on", sealed::revoked_member),
    ("a_link_that_its_owner_lends_no_more_is_out_and_a_download_goes_on", sealed::revoked_proxy),
    ("strangers_get_no_answer_from_sealed_tunnels", sealed::strangers),
    ("a_member_with_a_key_speaks_for_itself_only", sealed::dishonest_member),
    ("four_workers_keep_the_order_of_each_link", workers::order),
    ("workers_end_and_begin_with_their_daemon", workers::restarts),
    ("a_daemon_drops_the_privileges_it_needs_no_more", hardening::privileges_are_dropped),
    ("a_recording_is_its_owners_alone", hardening::recordings_are_private),
    ("nobody_else_on_the_host_commands_a_daemon", control::other_users),
    ("floods_of_its_sockets_do_not_stop_a_daemon", control::floods),
    ("no_counter_shuts_a_member_out", attacks::last_counters),
    ("idle_members_are_called_after_a_restart", attacks::idle_members_after_a_restart),
    ("idle_members_with_keys_are_called_after_a_restart", sealed::idle_members_after_a_restart),
    ("a_plain_gre_router_can_be_a_member", scenarios::plain_gre_router),
    ("two_hundred_routers_carry_a_download", many::two_hundred_routers),
    ("as_many_members_register_as_there_are_numbers", many::full_house),
    ("more_listed_members_than_numbers_are_an_error", many::too_many_listed),
    ("routes_of_others_are_refused_and_stay", routes::foreign_routes),
    ("a_member_without_a_proxy_gives_the_way_back_free", routes::way_back_without_proxy),
    ("a_member_whose_uplink_is_silent_sends_through_a_neighbour", neighbours::stand_in),
    ("neighbours_believe_each_other_and_pass_on_what_receivers_send_alone", neighbours::strangers),
    ("a_member_is_reached_from_its_own_lan", routes::own_addresses),
    ("a_wrong_token_is_told_on_both_sides", events::wrong_token),
    ("two_members_of_one_name_are_told", events::one_name_twice),
    ("what_happened_is_in_the_recording_too", events::recorded),
    ("a_link_is_measured_by_receipts", receipts::measured),
    ("a_proxy_that_wants_no_receipts_gets_none", receipts::declined),
    ("repairs_give_back_what_a_link_loses", receipts::repaired),
    ("a_path_too_narrow_is_reported_to_the_sender", scenarios::narrow_path),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["proxy", file] => return daemon(ProxyConfig::load(Path::new(file)), proxy::run),
        ["ask", folder] => return control::ask_as_another(Path::new(folder)),
        ["member", file] => return daemon(MemberConfig::load(Path::new(file)), member::run),
        _ => {}
    }
    prismux_namespaces::run(&[(TESTS, 3)])
}

/// This process is a daemon that a test has started.
fn daemon<C, E: std::fmt::Display, F: std::fmt::Display>(
    config: Result<C, E>,
    run: impl Fn(C) -> Result<(), F>,
) -> ExitCode {
    let level = std::env::var("PRISMUX_LOG").ok().and_then(|level| level.parse().ok()).unwrap_or_default();
    logging::init(logging::LogFormat::Text, level);
    let result = config.map_err(|e| e.to_string()).and_then(|config| run(config).map_err(|e| e.to_string()));
    if let Err(error) = result {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
