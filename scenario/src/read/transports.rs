//! The settings of a flow's transport: what the file says, over the defaults that the registry has.

use super::reader::Reader;
use super::{Names, link_list, pipes};
use crate::keys;
use crate::registry;
use prismux_plan::{
    Congestion, MptcpSettings, NodeId, PtcpSettings, R2cpSettings, RcpSettings, StripingSettings,
    TcpSettings, Transport,
};
use prismux_tcp_door::{DoorConfig, MAX_TIMER_UNITS, Setting};
use prismux_units::{ByteCount, Duration};

/// Reads the settings of `transport`, which has its defaults, for a flow from `from` that starts at `start`.
pub(super) fn read(
    reader: &Reader<'_>,
    names: Names<'_>,
    transport: Transport,
    from: Option<NodeId>,
    start: Duration,
) -> Transport {
    match transport {
        Transport::R2cp(standard) => Transport::R2cp(R2cpSettings {
            scheduling: reader.name("scheduling", registry::SCHEDULING).unwrap_or(standard.scheduling),
            target_rate: reader.rate("target_rate"),
            pipes: pipes::read(reader, names, from, start),
        }),
        Transport::Rcp(standard) => Transport::Rcp(rcp(reader, standard)),
        Transport::RcpEln(standard) => Transport::RcpEln(rcp(reader, standard)),
        Transport::TcpDoor(standard) => Transport::TcpDoor(door(reader, standard)),
        Transport::Mptcp(standard) => Transport::Mptcp(mptcp(reader, standard)),
        Transport::Ptcp(standard) => Transport::Ptcp(ptcp(reader, standard)),
        Transport::StripingUnaware(standard) => Transport::StripingUnaware(striping(reader, names, standard)),
        Transport::StripingSmart(standard) => Transport::StripingSmart(striping(reader, names, standard)),
        other => other,
    }
}

fn rcp(reader: &Reader<'_>, standard: RcpSettings) -> RcpSettings {
    let Some(table) = reader.table("rcp", keys::RCP) else { return standard };
    let request_limit = table.bytes("request_limit").unwrap_or(standard.request_limit);
    if request_limit == ByteCount::ZERO {
        table.wrong("request_limit", "found a limit of nothing", "at least 1 B", None);
    }
    let settings = RcpSettings {
        opened_by: table.name("opened_by", registry::RCP_OPENERS).unwrap_or(standard.opened_by),
        request_limit,
        beacon: table.duration("beacon").filter(|beacon| !beacon.is_zero()),
        spread_grants: table.boolean("spread_grants").unwrap_or(standard.spread_grants),
    };
    table.finish();
    settings
}

/// Grants are spread where requests leave in bundles: with STP.
pub(super) fn check_grants(reader: &Reader<'_>, transport: &Transport, tcp: &TcpSettings) {
    let spreads = transport.rcp().is_some_and(|settings| settings.spread_grants);
    if spreads && tcp.congestion != Some(Congestion::Stp) {
        let found = "found grants to be spread, and requests that leave one by one";
        let remedy = "congestion = \"stp\", or leave out spread_grants".to_string();
        reader.wrong("rcp", found, "false without congestion = \"stp\"", Some(remedy));
    }
}

fn mptcp(reader: &Reader<'_>, standard: MptcpSettings) -> MptcpSettings {
    let Some(table) = reader.table("mptcp", keys::MPTCP) else { return standard };
    let settings = MptcpSettings {
        scheduler: table.name("scheduler", registry::MPTCP_SCHEDULERS).unwrap_or(standard.scheduler),
        coupling: table.name("coupling", registry::MPTCP_COUPLINGS).unwrap_or(standard.coupling),
        opportunistic_retransmission: table
            .boolean("opportunistic_retransmission")
            .unwrap_or(standard.opportunistic_retransmission),
        penalisation: table.boolean("penalisation").unwrap_or(standard.penalisation),
        send_buffer: table.bytes("send_buffer").unwrap_or(standard.send_buffer),
    };
    table.finish();
    settings
}

fn ptcp(reader: &Reader<'_>, standard: PtcpSettings) -> PtcpSettings {
    let Some(table) = reader.table("ptcp", keys::PTCP) else { return standard };
    let settings = PtcpSettings {
        reassignment: table.name("reassignment", registry::REASSIGNMENT).unwrap_or(standard.reassignment),
        reassign_to_same_pipe: table
            .boolean("reassign_to_same_pipe")
            .unwrap_or(standard.reassign_to_same_pipe),
        redundant: table.boolean("redundant").unwrap_or(standard.redundant),
        opportunistic_retransmission: table
            .boolean("opportunistic_retransmission")
            .unwrap_or(standard.opportunistic_retransmission),
        resume_order: table.name("resume_order", registry::RESUME_ORDER).unwrap_or(standard.resume_order),
        coupled: table.boolean("coupled").unwrap_or(standard.coupled),
        loss_notification: table.boolean("loss_notification").unwrap_or(standard.loss_notification),
        address_lists: table.boolean("address_lists").unwrap_or(standard.address_lists),
    };
    table.finish();
    settings
}

fn door(reader: &Reader<'_>, standard: DoorConfig) -> DoorConfig {
    let Some(table) = reader.table("door", keys::DOOR) else { return standard };
    let setting = table.text("setting").and_then(|name| {
        let setting = Setting::parse(name);
        if setting.is_none() {
            let expected =
                "all, sd or rd with T1 and T2 (\"all-t1x2-t2x4\"), td with T1, ir with T2, each 1, 2, 4 or 8";
            table.wrong("setting", format!("there is no \"{name}\""), expected, None);
        }
        setting
    });
    let standard = setting.map_or(standard, |setting| setting.config());
    let units = |key, standard: Option<u32>| match table.integer(key, 0..=i64::from(MAX_TIMER_UNITS)) {
        Some(units) => u32::try_from(units).ok().filter(|&units| units > 0),
        None => standard,
    };
    let share = table.number("max_frozen_share", 0.0..=1.0);
    let settings = DoorConfig {
        detects_acks: table.boolean("detects_acks").unwrap_or(standard.detects_acks),
        detects_data: table.boolean("detects_data").unwrap_or(standard.detects_data),
        freeze_units: units("freeze_units", standard.freeze_units),
        grows_while_frozen: table.boolean("grows_while_frozen").unwrap_or(standard.grows_while_frozen),
        restore_units: units("restore_units", standard.restore_units),
        offers_option: table.boolean("offers_option").unwrap_or(standard.offers_option),
        option_on_every_syn: table.boolean("option_on_every_syn").unwrap_or(standard.option_on_every_syn),
        numbers_data: table.boolean("numbers_data").unwrap_or(standard.numbers_data),
        report_repeats: table.integer("report_repeats", 0..=255).map_or(standard.report_repeats, |n| n as u8),
        max_frozen_share: share.filter(|&share| share < 1.0).or(standard.max_frozen_share),
    };
    table.finish();
    settings
}

fn striping(reader: &Reader<'_>, names: Names<'_>, standard: StripingSettings) -> StripingSettings {
    let Some(table) = reader.table("striping", keys::STRIPING) else { return standard };
    let settings = StripingSettings {
        over: table.name("over", registry::STRIPED_OVER).unwrap_or(standard.over),
        buffer: table.bytes("buffer").unwrap_or(standard.buffer),
        estimate_every: table.duration("estimate_every").filter(|every| *every > Duration::ZERO),
        wide_links: link_list(&table, "wide_links", names),
        wide_window: table.bytes("wide_window"),
        loss_notification: table.boolean("loss_notification").unwrap_or(standard.loss_notification),
    };
    table.finish();
    settings
}
