//! `prismux discover`, `offer`, `lend` and `borrow`: uplinks among neighbours.
use crate::args::{BorrowArguments, DiscoverArguments, LendArguments, OfferArguments};
use crate::failure::Failure;
use crate::output::print;
use prismux_community::lending::{Ask, Receiver, Verdict, is_valid_name};
use prismux_daemons::config::{MemberConfig, make_private_key};
use prismux_daemons::lending::found::{Offer, Place};
use prismux_daemons::lending::lan::{self, Lan};
use prismux_daemons::lending::offer::{AskReport, OfferCommand, OfferConfig, OfferReport};
use prismux_daemons::lending::seek::{self, Search};
use prismux_daemons::lending::{code, offer};
use prismux_daemons::{commands, logging, status};
use prismux_units::Duration;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// For so long a lender is looked for before it is asked.
const SEARCH_S: u64 = 5;

fn networks(devices: &[String]) -> Result<Vec<Lan>, Failure> {
    match lan::of_devices(devices).map_err(Failure::Usage)? {
        none if none.is_empty() => {
            let message = "this host is on no network with neighbours; compare with: ip address";
            Err(Failure::Failed(message.to_owned()))
        }
        lans => Ok(lans),
    }
}

pub(crate) fn discover(arguments: &DiscoverArguments) -> Result<(), Failure> {
    let lans = networks(&arguments.device)?;
    let search = seek::discover(&lans, Duration::from_secs(arguments.timeout), |_| false)?;
    if arguments.json {
        print(listed(&search))?;
    } else if !search.offers.is_empty() {
        print(table(&search))?;
    }
    if search.offers.is_empty() { Err(Failure::Failed(nobody(&lans, &search))) } else { Ok(()) }
}

fn listed(search: &Search) -> serde_json::Value {
    let row = |offer: &Offer| {
        let place = |place: &Place| json!({ "by": place.by.name(), "address": place.address.to_string() });
        json!({
            "name": offer.name, "address": offer.address.to_string(), "device": offer.device,
            "code": offer.code(), "public_key": offer.key.to_string(),
            "found_by": offer.places.iter().map(place).collect::<Vec<_>>(),
        })
    };
    let offers: Vec<_> = search.offers.iter().map(row).collect();
    json!({ "offers": offers, "requests": search.requests, "ignored": search.ignored })
}

fn table(search: &Search) -> String {
    let mut text = format!("{:<20} {:<19}  {:<22} {}\n", "name", "code", "address", "device");
    for offer in &search.offers {
        let (name, address) = (&offer.name, offer.address.to_string());
        text.push_str(&format!("{name:<20} {:<19}  {address:<22} {}\n", offer.code(), offer.device));
    }
    if search.ignored > 0 {
        text.push_str(&format!("{} other datagrams came and were ignored\n", search.ignored));
    }
    text + "A name proves nothing: compare the code with the lender's own screen. Then: prismux borrow CODE ..."
}

fn nobody(lans: &[Lan], search: &Search) -> String {
    let devices: Vec<&str> = lans.iter().map(|lan| lan.device.as_str()).collect();
    let (devices, requests, ignored) = (devices.join(", "), search.requests, search.ignored);
    format!(
        "nobody offers an uplink on {devices} ({requests} requests were sent, {ignored} other datagrams ignored). \
         Why that may be:\n  - no neighbour has said `prismux offer NAME --device DEVICE`\n  \
         - a firewall, or a wireless network that keeps its clients apart, holds up UDP port 427 to \
         239.255.255.253 and UDP port 5353 to 224.0.0.251 and ff02::fb, or the answers\n  \
         - the neighbour is on another network: requests pass no router"
    )
}

pub(crate) fn offer(arguments: &OfferArguments) -> Result<(), Failure> {
    if !is_valid_name(&arguments.name) {
        let message = format!(
            "\"{}\" is no name, expected 1 to 32 letters, digits, dots, dashes or underscores",
            arguments.name
        );
        return Err(Failure::Usage(message));
    }
    let lans = networks(&arguments.device)?;
    if let Some(folder) = arguments.key.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let key = make_private_key(&arguments.key).map_err(Failure::Failed)?.parse().map_err(Failure::Failed)?;
    logging::init(arguments.log_format.into(), arguments.log_level);
    print(format!(
        "the code of this offer, for neighbours to compare: {}\nwho asks: prismux lend",
        code::of_lender(&arguments.name, key)
    ))?;
    let config = OfferConfig {
        name: arguments.name.clone(),
        key,
        private_key_file: arguments.key.clone(),
        lans,
        status_socket: arguments.socket.clone(),
    };
    offer::run(config).map_err(Failure::failed)
}

pub(crate) fn lend(arguments: &LendArguments) -> Result<(), Failure> {
    let page = status::query(&arguments.socket).map_err(Failure::failed)?;
    let report: OfferReport = serde_json::from_value(page).map_err(|error| {
        Failure::Failed(format!("{} is not `prismux offer`: {error}", arguments.socket.display()))
    })?;
    let Some(code) = &arguments.code else { return Ok(print(who_asks(&report))?) };
    let Some(ask) = report.asks.iter().find(|ask| code::is_same(&ask.code, code)) else {
        let message = format!("nobody asks with the code {code}\n{}", who_asks(&report));
        return Err(Failure::Failed(message));
    };
    let code = ask.code.clone();
    if arguments.refuse {
        let command = OfferCommand::Refuse { code };
        return Ok(print(commands::send(&arguments.socket, &command).map_err(Failure::Failed)?)?);
    }
    write_member(&arguments.config, &report, ask)?;
    if let Err(error) = commands::send(&arguments.socket, &OfferCommand::Lend { code }) {
        std::fs::remove_file(&arguments.config)?;
        return Err(Failure::Failed(error));
    }
    let (file, name, from) = (arguments.config.display(), &ask.name, ask.from);
    // A link-local address says nothing without its device, and leads no IPv4 traffic by itself.
    let via = if from.is_ipv4() { format!("via {from}") } else { format!("via inet6 {from} dev DEVICE") };
    Ok(print(format!(
        "lent to {name}; {file} is written. Caps and hours: [sharing] there. Then:\n  prismux member --config {file}\n\
         Receivers that are on no network of this host need a route, as: ip route add {} {via}\n\
         The asker hears of it while `prismux offer` runs. To take it back, at once and for good: prismux revoke proxy",
        ask.receivers.join(", ")
    ))?)
}

fn who_asks(report: &OfferReport) -> String {
    let mut text = format!("{} is {}. Its code: {}\n", report.name, lent(report.is_lent), report.code);
    if report.asks.is_empty() {
        return text + "nobody asks";
    }
    for ask in &report.asks {
        let AskReport { code, name, from, proxy, verdict, .. } = ask;
        let receivers = ask.receivers.join(", ");
        text.push_str(&format!(
            "{code}  {name} at {from}, for {receivers} by the proxy {proxy}: {verdict}\n"
        ));
    }
    text + "Compare the code with the asker's own screen. Yes: prismux lend CODE; no: prismux lend CODE --refuse"
}

const fn lent(is_lent: bool) -> &'static str {
    if is_lent { "lent" } else { "offered" }
}

/// The file for `prismux member`; none is left if it would not be one.
fn write_member(file: &Path, report: &OfferReport, ask: &AskReport) -> Result<(), Failure> {
    if file.exists() {
        let message = format!(
            "{} is there already: this host lends to somebody. Remedy: remove it, or name another one, --config FILE",
            file.display()
        );
        return Err(Failure::Failed(message));
    }
    let receivers: Vec<String> = ask.receivers.iter().map(|range| format!("\"{range}\"")).collect();
    let text = format!(
        "# prismux member --config {}\n# Lent to {} at {}.\nname = \"{}\"\nprivate_key_file = {:?}\n\
         receivers = [{}]\n\n[tunnel]\nproxy = \"sealed:{}\"\nproxy_public_key = \"{}\"\n\n\
         # How much is lent, and when.\n[sharing]\n# cap_per_month = \"20 GB\"\n# rate_limit = \"4 Mbit/s\"\n",
        file.display(),
        ask.name,
        ask.from,
        report.name,
        report.private_key_file,
        receivers.join(", "),
        ask.proxy,
        ask.proxy_public_key,
    );
    let mut made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    made.write_all(text.as_bytes())?;
    made.sync_all()?;
    if let Err(error) = MemberConfig::load(file) {
        std::fs::remove_file(file)?;
        return Err(Failure::Failed(format!("what was asked for makes no member: {error}")));
    }
    Ok(())
}

pub(crate) fn borrow(arguments: &BorrowArguments) -> Result<(), Failure> {
    let lans = networks(&arguments.device)?;
    let receiver =
        |range: &prismux_linux::netconf::Prefix| Receiver { address: range.address, length: range.length };
    let ask = Ask {
        name: arguments.name.clone(),
        proxy: arguments.proxy,
        proxy_key: arguments.proxy_key.0,
        receivers: arguments.receiver.iter().map(receiver).collect(),
    };
    let own_code = code::of_ask(&ask).map_err(|error| Failure::Usage(error.to_string()))?;
    let is_meant = |offer: &Offer| code::is_same(&offer.code(), &arguments.code);
    let search = seek::discover(&lans, Duration::from_secs(SEARCH_S), is_meant)?;
    let Some(offer) = search.offers.iter().find(|offer| is_meant(offer)) else {
        let message = match search.offers.is_empty() {
            true => nobody(&lans, &search),
            false => format!("nobody with the code {} answers, but:\n{}", arguments.code, table(&search)),
        };
        return Err(Failure::Failed(message));
    };
    let lan = lans.iter().find(|lan| lan.device == offer.device);
    let lan = lan.ok_or_else(|| Failure::failed("the device has gone"))?;
    eprintln!(
        "{} is asked. Tell its owner your code: {own_code}\nYes is said there with: prismux lend {own_code}",
        offer.name
    );
    let decided = seek::ask((lan, offer), &ask, Duration::from_secs(arguments.timeout), |outcome| {
        match outcome.verdict {
            Verdict::Waiting => {
                eprintln!("it has come to {}; its owner has not said anything yet", outcome.name)
            }
            Verdict::Full => eprintln!("too many others ask {}; asking on", outcome.name),
            Verdict::Granted | Verdict::Refused => {}
        }
    })?;
    match decided.map(|outcome| outcome.verdict) {
        Some(Verdict::Granted) => {
            eprintln!("lent. Add this to your proxy's file, and start the proxy again:");
            let receivers: Vec<String> =
                arguments.receiver.iter().map(|range| format!("\"{range}\"")).collect();
            Ok(print(format!(
                "\n[[peers]]\nname = \"{}\"\npublic_key = \"{}\"\nreceivers = [{}]",
                offer.name,
                offer.key,
                receivers.join(", ")
            ))?)
        }
        Some(_) => Err(Failure::Failed(format!("the owner of {} has said no", offer.name))),
        None => Err(Failure::Failed(format!(
            "the owner of {} has said nothing within {} s. The same command asks again",
            offer.name, arguments.timeout
        ))),
    }
}
