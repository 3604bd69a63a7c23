//! The lab as its user sees it: plans in, measurements out, on real namespaces with the kernel's TCP, MPTCP and the
//! real daemons. Several run at the same time, which is part of what they prove.
//!
//! `cargo test --test lab [-- NAME]`. Works as root, and without where user namespaces are allowed.

mod cells;
mod events;
mod failures;
mod followed;
mod leftovers;
mod links;
mod members;
mod moves;
mod outages;
mod own_programs;
mod plans;
mod radio;
mod slotted;

use prismux_daemons::config::{MemberConfig, ProxyConfig};
use prismux_daemons::route::config::RouteConfig;
use prismux_daemons::{logging, member, proxy, route};
use prismux_namespaces::Test;
use std::path::Path;
use std::process::ExitCode;

/// Tests that run at the same time.
const AT_A_TIME: usize = 5;
/// Tests that measure and run at the same time.
const MEASURING_AT_A_TIME: usize = 2;

const TESTS: &[Test] = &[
    // The longest first: the others run beside it.
    ("a_connection_goes_over_relays_that_are_known", radio::relayed_by_known_routes),
    ("a_connection_finds_its_way_over_relays", radio::relayed),
    ("a_download_leaves_the_only_cell_and_comes_back", cells::coverage),
    ("a_download_goes_on_over_a_relay_while_its_receiver_hears_no_cell", cells::over_a_relay_and_back),
    ("what_waits_at_a_base_station_goes_after_a_car_that_leaves", cells::left_behind),
    ("a_download_follows_a_car_from_cell_to_cell", cells::handoff),
    ("another_way_is_found_when_the_daemon_of_a_relay_is_killed", radio::rerouted),
    ("frames_are_as_long_as_packets_with_their_headers", radio::lengths),
    ("a_host_on_another_channel_hears_nothing_until_it_is_followed", radio::tuned),
    ("cars_out_of_a_cell_are_reached_over_one_in_it", cells::behind_relays),
    ("a_car_is_in_its_cell_from_the_beginning", cells::from_the_beginning),
    ("hosts_in_cells_reach_one_another", cells::between_stations),
    ("a_car_at_the_edge_of_a_cell_goes_over_another", cells::over_a_relay_at_the_edge),
    ("hosts_spread_over_the_radios_of_a_base_station", cells::over_two_radios),
    ("a_car_changes_to_the_radio_of_its_base_station_that_reaches_farther", cells::from_radio_to_radio),
    ("a_host_out_of_a_polled_cell_goes_over_a_relay_with_two_radios", radio::relayed_into_a_polled_cell),
    ("a_download_goes_on_where_a_host_of_a_cell_walks_away_from_an_access_point", slotted::walk),
    ("peers_in_a_cell_relay_by_a_schedule", slotted::scheduled),
    ("damaged_and_repeated_packets_do_not_reach_the_application", links::damage),
    ("packets_are_followed_over_a_relay", followed::over_a_relay),
    ("a_change_of_rate_takes_effect_at_its_time", links::change),
    ("capacity_is_that_of_the_stretch_with_flows_under_way", links::capacity),
    ("a_download_follows_its_receiver_to_another_link", moves::handoff),
    ("programs_of_ones_own_use_the_way_of_a_flow", own_programs::by_the_way_of_a_flow),
    ("programs_say_how_they_end_and_leave_nothing", own_programs::end),
    ("a_program_that_is_not_there_ends_the_run", own_programs::missing),
    ("a_capture_holds_every_packet", links::capture),
    ("labs_at_the_same_time_do_not_disturb_each_other", links::side_by_side),
    ("a_download_through_the_proxy_arrives_whole", members::proxied_download),
    ("answers_to_a_receiver_go_through_the_proxy", members::proxied_answers),
    ("a_download_by_gre_in_udp_arrives_whole", members::gre_in_udp),
    ("first_packets_take_the_near_link", members::first_packets_take_the_near_link),
    ("a_receiver_that_writes_back_gets_its_download_over_both_links", members::receiver_writes_back),
    ("a_download_by_sealed_tunnels_arrives_whole", members::sealed),
    ("a_proxied_download_survives_kill_9_of_member_and_proxy", members::kills),
    ("what_is_under_way_to_a_leaving_member_arrives", members::leaves_in_good_order),
    ("so_does_one_through_the_published_proxy", members::kills_of_the_published_proxy),
    ("an_event_log_tells_of_every_packet_on_the_links", events::told),
    ("nothing_is_left_after_success", leftovers::after_success),
    ("nothing_is_left_after_ctrl_c", leftovers::after_interrupt),
    ("nothing_is_left_after_kill_9", leftovers::after_kill),
    ("without_capabilities_a_user_namespace_serves", leftovers::in_a_user_namespace),
    ("errors_say_what_to_do", failures::errors),
];

/// Tests of what links and ways carry, which a machine shows only if it has time for them.
const MEASURING: &[Test] = &[
    ("a_download_goes_on_while_the_slower_link_is_silent", outages::of_the_slower_link),
    ("a_link_has_the_rate_it_is_given", links::rate),
    ("what_waits_in_a_link_at_the_end_does_not_count", links::end),
    ("a_link_has_the_delay_it_is_given", links::delay),
    ("a_link_loses_what_it_should", links::loss),
    ("a_flow_through_a_member_uses_its_links_and_no_other", members::single),
    // The kernel asks for a subflow once: on a busy machine that may be lost.
    ("mptcp_members_leave_and_join", members::mptcp_members_come_and_go),
    ("mptcp_adds_two_equal_links_up", members::mptcp),
    ("our_own_tcp_sends_and_hears_of_losses", members::own_tcp),
    ("so_it_does_when_the_link_of_the_acks_is_back", outages::of_the_link_that_takes_the_acks_back),
    ("era_settings_reach_the_kernel", members::era_settings),
    ("a_relay_with_a_radio_on_each_side_carries_more", radio::relayed_between_channels),
    ("a_relay_with_radios_of_two_kinds_carries_what_the_slower_takes", radio::relayed_between_kinds),
    ("a_channel_carries_what_the_timing_of_802_11_leaves", radio::saturated),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["proxy", "--config", file] => return daemon(ProxyConfig::load(Path::new(file)), proxy::run),
        ["member", "--config", file] => return daemon(MemberConfig::load(Path::new(file)), member::run),
        [
            "route",
            "--protocol",
            protocol,
            "--address",
            address,
            "--radio",
            radio,
            "--device",
            device,
            _,
            socket,
        ] => {
            let config = RouteConfig {
                protocol: protocol.parse().expect("a protocol"),
                address: address.parse().expect("an address"),
                radio: radio.parse().expect("a radio"),
                device: device.to_owned(),
                mtu_bytes: None,
                status_socket: socket.into(),
            };
            return daemon(Ok::<_, String>(config), route::run);
        }
        ["run-a-lab", seconds, transport] => return leftovers::run_a_lab(seconds, transport),
        ["serve", listen] => return own_programs::serve(listen),
        ["fetch", server, own] => return own_programs::fetch(server, own),
        _ => {}
    }
    prismux_namespaces::run(&[(TESTS, AT_A_TIME), (MEASURING, MEASURING_AT_A_TIME)])
}

/// This process is a daemon that a lab has started.
fn daemon<C, E: std::fmt::Display, F: std::fmt::Display>(
    config: Result<C, E>,
    run: impl Fn(C) -> Result<(), F>,
) -> ExitCode {
    logging::init(logging::LogFormat::Text, logging::LogLevel::default());
    let result = config.map_err(|e| e.to_string()).and_then(|config| run(config).map_err(|e| e.to_string()));
    if let Err(error) = result {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
