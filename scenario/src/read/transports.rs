//! The settings of a flow's transport: what the file says, over the defaults that the registry has.

use super::reader::Reader;
use super::{Names, link_list, pipes};
use crate::keys;
use crate::registry;
use prismux_plan::{NodeId, PtcpSettings, R2cpSettings, StripingSettings, Transport};
use prismux_units::Duration;

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
        Transport::Ptcp(standard) => Transport::Ptcp(ptcp(reader, standard)),
        Transport::StripingUnaware(standard) => Transport::StripingUnaware(striping(reader, names, standard)),
        Transport::StripingSmart(standard) => Transport::StripingSmart(striping(reader, names, standard)),
        other => other,
    }
}

fn ptcp(reader: &Reader<'_>, standard: PtcpSettings) -> PtcpSettings {
    let Some(table) = reader.table("ptcp", keys::PTCP) else { return standard };
    let settings = PtcpSettings {
        reassignment: table.name("reassignment", registry::REASSIGNMENT).unwrap_or(standard.reassignment),
        redundant: table.boolean("redundant").unwrap_or(standard.redundant),
        opportunistic_retransmission: table
            .boolean("opportunistic_retransmission")
            .unwrap_or(standard.opportunistic_retransmission),
        resume_order: table.name("resume_order", registry::RESUME_ORDER).unwrap_or(standard.resume_order),
        coupled: table.boolean("coupled").unwrap_or(standard.coupled),
        loss_notification: table.boolean("loss_notification").unwrap_or(standard.loss_notification),
    };
    table.finish();
    settings
}

fn striping(reader: &Reader<'_>, names: Names<'_>, standard: StripingSettings) -> StripingSettings {
    let Some(table) = reader.table("striping", keys::STRIPING) else { return standard };
    let settings = StripingSettings {
        buffer: table.bytes("buffer").unwrap_or(standard.buffer),
        estimate_every: table.duration("estimate_every").filter(|every| *every > Duration::ZERO),
        wide_links: link_list(&table, "wide_links", names),
        wide_window: table.bytes("wide_window"),
        loss_notification: table.boolean("loss_notification").unwrap_or(standard.loss_notification),
    };
    table.finish();
    settings
}
