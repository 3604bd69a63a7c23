//! The words for every problem of a plan.
use crate::fault::{Problem, list_of};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl Problem {
    /// What was found.
    pub fn found(&self) -> String {
        match self {
            Self::DuplicateName(name) => format!("\"{name}\" is there twice"),
            Self::Missing(what) => format!("it refers to a {what} that the plan does not have"),
            Self::LinkToItself(node) => format!("both ends are \"{node}\""),
            Self::LonelyMedium => "found fewer than two nodes, or a node twice".to_owned(),
            Self::HostsWithoutPlaces { hosts, places } => {
                format!("{hosts} hosts are on the air, and {places} have places")
            }
            Self::NotOnTheAir(node) => format!("\"{node}\" is not on the air"),
            Self::Untunable(node) => format!("the channel of \"{node}\" cannot be changed"),
            Self::BadCells(why) | Self::BadRadios(why) => format!("found {why}"),
            Self::Cell(problem) => problem.found(),
            Self::NoCommonChannel { from, to, .. } => {
                format!("no channels that radios share lead from \"{from}\" to \"{to}\"")
            }
            Self::FlowToItself(node) => format!("the flow goes from \"{node}\" to \"{node}\""),
            Self::Unreachable { from, to, .. }
            | Self::UnreachableServer { server: from, to }
            | Self::UnreachableMember { proxy: from, member: to } => {
                format!("no links lead from \"{from}\" to \"{to}\"")
            }
            Self::StartsAfterRun { start, end } => {
                format!("it starts at {start} but the run ends at {end}")
            }
            Self::StopsBeforeStart { start, stop } => {
                format!("it stops at {stop} but starts at {start}")
            }
            Self::WrongPattern { pattern, .. } => format!("found \"{pattern}\""),
            Self::ShapeWithoutMean(shape) => format!("found {shape}"),
            Self::NothingToRun => "found no program".to_owned(),
            Self::EmptyDatagrams => "found packets without payload or without a rate".to_owned(),
            Self::EmptyUpdates => "found updates after every 0 B".to_owned(),
            Self::UpdatesWithoutTcp { transport } => format!("found updates with transport \"{transport}\""),
            Self::EmptyWrites => "found writes without a byte or without time between them".to_owned(),
            Self::EmptyExchange => "found requests or responses without a byte".to_owned(),
            Self::PrismWithoutProxy => "found \"tcp-prism\" without a proxy".to_owned(),
            Self::ViaIsNoMember { node, .. } | Self::NotAMember(node) => {
                format!("\"{node}\" is not a member")
            }
            Self::PrismPastProxy => "found via with transport \"tcp-prism\"".to_owned(),
            Self::ForeignLink { link, ends: [from, to] }
            | Self::ForeignPipeLink { link, server: from, to } => {
                format!("link \"{link}\" ends neither at \"{from}\" nor at \"{to}\"")
            }
            Self::NothingToCouple => {
                "found coupled pipes with BBR, whose rate has no increase to couple".to_owned()
            }
            Self::DeafToDamage => "found loss notification over RCP".to_owned(),
            Self::LinksForOnePipe(found) => format!("found {found} links for a flow of one pipe"),
            Self::TooManyLinks { found, .. } => format!("found {found} links"),
            Self::NoPipes => "found no pipe".to_owned(),
            Self::BadServer { server, to } => format!("\"{server}\" cannot serve \"{to}\""),
            Self::NoMembers(proxy) => format!("no link joins \"{proxy}\" to a member"),
            Self::JoinsInside { member, at } => {
                format!("\"{member}\" joins at {at} but is in the community already")
            }
            Self::LeavesOutside { member, at } => {
                format!("\"{member}\" leaves at {at} but is not in the community")
            }
            Self::WrongKind { node, wanted, .. } => format!("\"{node}\" is not {wanted}"),
            Self::Sleepless { flow, transport } => format!("\"{flow}\" has transport \"{transport}\""),
            Self::ForeignHandoff { host, link, .. } => format!("\"{link}\" does not end at \"{host}\""),
        }
    }

    /// What was expected in its place.
    pub fn expected(&self) -> String {
        let fixed = match self {
            Self::DuplicateName(_) => "every part with a name of its own",
            Self::Missing(_) => "a position in its list",
            Self::LinkToItself(_) | Self::FlowToItself(_) => "two different nodes",
            Self::LonelyMedium => "at least two nodes, each of them once",
            Self::HostsWithoutPlaces { .. } => "one movement for each host",
            Self::NotOnTheAir(_) => "a host on the air",
            Self::Untunable(_) => "a channel from 1 to 255, and neither cells nor slots nor polling",
            Self::BadRadios(_) => {
                "radios of a host on channels of their own; beside cells, second ones of stations, and [routing]"
            }
            Self::BadCells(_) => "routers on the air, and links of the hosts that hand over between them",
            Self::Cell(problem) => problem.expected(),
            Self::StartsAfterRun { .. } => "a start within the run",
            Self::StopsBeforeStart { .. } => "a stop after the start",
            Self::ShapeWithoutMean(_) => "a number above 1: Pareto's law has no mean below",
            Self::EmptyDatagrams => "packets of more than 28 B, which are headers, and a rate above zero",
            Self::NothingToRun => "a program with its arguments",
            Self::EmptyExchange | Self::EmptyUpdates => "at least 1 B",
            Self::UpdatesWithoutTcp { .. } => "a transport over which a receiver can write back",
            Self::EmptyWrites => "at least 1 B, and a time above zero",
            Self::PrismWithoutProxy => "a prism-proxy on the flow's way",
            Self::PrismPastProxy => "a flow that passes the proxy",
            Self::ForeignLink { .. } => "links of the flow's own ends",
            Self::NothingToCouple => "\"newreno\", \"cubic\" or \"stp\"",
            Self::DeafToDamage => "loss notification over TCP, or none",
            Self::LinksForOnePipe(_) => "one link",
            Self::NoPipes => "at least one pipe",
            Self::BadServer { .. } => "another host as server",
            Self::UnreachableServer { .. } => "a server that links lead from",
            Self::ForeignPipeLink { .. } => "a link of the server or the receiver",
            Self::Sleepless { .. } => "a flow with transport \"rcp\" or \"rcp-eln\"",
            Self::NoMembers(_) => "at least one link to a node of kind \"member\"",
            Self::NotAMember(_) => "nodes of kind \"member\"",
            Self::UnreachableMember { .. } => "members that links lead to",
            Self::JoinsInside { .. } | Self::LeavesOutside { .. } => "joining and leaving in turn",
            Self::Unreachable { from, near, .. } => {
                return format!("a node that links lead to from \"{from}\": {}", list_of(near));
            }
            Self::NoCommonChannel { from, channels, .. } => {
                let channels: Vec<String> = channels.iter().map(ToString::to_string).collect();
                let channels = channels.join(" and ");
                return format!("a radio on a channel of \"{from}\" ({channels}), there or at hosts between");
            }
            Self::WrongPattern { transport, possible, .. } => {
                return format!("with transport \"{transport}\": {}", list_of(possible));
            }
            Self::ViaIsNoMember { members, .. } => return format!("a member: {}", list_of(members)),
            Self::TooManyLinks { max, .. } => return format!("at most {max} links"),
            Self::WrongKind { wanted, candidates, .. } => {
                return format!("{wanted}: {}", list_of(candidates));
            }
            Self::ForeignHandoff { host, own, .. } => {
                return format!("a link of \"{host}\": {}", list_of(own));
            }
        };
        fixed.to_owned()
    }

    /// What to do, where that can be said.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::Unreachable { to, by_air: true, .. } => {
                format!("put \"{to}\" on the air ([radio] hosts), or add a link towards it")
            }
            Self::Unreachable { to, .. } => format!("add a link towards \"{to}\""),
            Self::NoCommonChannel { to, channels, .. } => {
                let own = channels.first().copied().unwrap_or(1);
                format!(
                    "give \"{to}\", or a host between that routes, a radio on channel {own} too: a list of channels"
                )
            }
            Self::Cell(problem) => return problem.remedy(),
            Self::WrongPattern { .. } => {
                "cbr and pareto need transport = \"udp\", request-response \"tcp\", writes \"tcp\" or \"rcp\""
                    .to_owned()
            }
            Self::UpdatesWithoutTcp { .. } => {
                "use transport = \"tcp\", or leave out updates_every".to_owned()
            }
            Self::PrismWithoutProxy => {
                "use transport = \"tcp\", or add a node of kind \"prism-proxy\"".to_owned()
            }
            Self::PrismPastProxy => "use transport = \"tcp\" with via".to_owned(),
            Self::Sleepless { .. } => {
                "for other transports, take the link down: link = \"wlan\", up = false".to_owned()
            }
            Self::NothingToCouple => "use congestion = \"newreno\", or coupled = false".to_owned(),
            Self::LinksForOnePipe(_) => "name one link, or use transport = \"ptcp\"".to_owned(),
            Self::NoPipes => "for instance pipes.first = { server = \"server1\" }".to_owned(),
            Self::NoMembers(proxy) => format!("add a member and a link between = [\"{proxy}\", \"m1\"]"),
            Self::JoinsInside { .. } => {
                "write present = false on the member, or let it leave first".to_owned()
            }
            Self::LeavesOutside { .. } => "let it join first".to_owned(),
            _ => return None,
        })
    }
}
