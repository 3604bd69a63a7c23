//! Random clean links over which senders of the simulator are held against the kernel's in the lab: MPTCP over two or
//! three at a time, BBR over one.
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_scenario::ScenarioFile;
use std::fmt::Write as _;

/// Seconds of each run. Slow start is part of it.
const SECONDS: u32 = 15;
/// Rates of links in Mbit/s and delays one way in milliseconds, log-uniform; all rates together stay below the last.
const RATES_MBPS: (f64, f64) = (4.0, 30.0);
const DELAYS_MS: (f64, f64) = (5.0, 60.0);
const MAX_TOTAL_MBPS: f64 = 60.0;
/// Queues in bandwidth-delay products, log-uniform.
const QUEUES_BDP: (f64, f64) = (0.7, 2.0);
/// Settings of the links that hold nothing up.
const BACKBONE: &str = r#"rate = "1 Gbit/s", delay = "1 ms", queue = "4 MB""#;
const WLAN: &str = r#"rate = "300 Mbit/s", delay = "1 ms", queue = "2 MB""#;

/// `count` scenarios, each the same for the same seed and number: a download by MPTCP over two or three links with one
/// large receive buffer, which runs on both backends.
pub fn mptcp_mixes(seed: u64, count: usize) -> Vec<ScenarioFile> {
    mixes(seed, count, "mptcp", mptcp)
}

/// `count` scenarios, each the same for the same seed and number: a download by one TCP with BBR over one link, with a
/// large receive buffer, which runs on both backends.
pub fn bbr_mixes(seed: u64, count: usize) -> Vec<ScenarioFile> {
    mixes(seed, count, "bbr", bbr)
}

fn mixes(seed: u64, count: usize, of: &str, text: impl Fn(&mut RandomStream) -> String) -> Vec<ScenarioFile> {
    let random = |number: usize| Seed(seed).stream(&format!("{of}-mix/{number}"));
    (1..=count)
        .map(|number| ScenarioFile::from_text(format!("mix-{number}"), text(&mut random(number))))
        .collect()
}

fn log_uniform(random: &mut RandomStream, (least, most): (f64, f64)) -> f64 {
    least * (most / least).powf(random.uniform())
}

/// Settings of a link of this rate, with a random delay and queue.
fn link(random: &mut RandomStream, rate_mbps: f64) -> String {
    let (delay_ms, queue) = (log_uniform(random, DELAYS_MS), log_uniform(random, QUEUES_BDP));
    let (rate_kbps, delay_us) = (rate_mbps * 1000.0, delay_ms * 1000.0);
    format!("rate = \"{rate_kbps:.0} kbit/s\", delay = \"{delay_us:.0} us\", queue = \"{queue:.2} bdp\"")
}

fn mptcp(random: &mut RandomStream) -> String {
    let count = 2 + random.below(2) as usize;
    let mut rates: Vec<f64> = (0..count).map(|_| log_uniform(random, RATES_MBPS)).collect();
    let scale = (MAX_TOTAL_MBPS / rates.iter().sum::<f64>()).min(1.0);
    rates.iter_mut().for_each(|rate| *rate *= scale);
    let mut nodes = String::new();
    let mut links = String::new();
    for (rate, number) in rates.into_iter().zip(1..) {
        let wwan = link(random, rate);
        let _ = writeln!(nodes, "m{number} = {{ kind = \"member\" }}");
        let _ = writeln!(links, "wwan{number} = {{ between = [\"proxy\", \"m{number}\"], {wwan} }}");
        let _ = writeln!(links, "wlan{number} = {{ between = [\"m{number}\", \"receiver\"], {WLAN} }}");
    }
    format!(
        r#"duration = "{SECONDS} s"
[nodes]
server = {{ kind = "host" }}
proxy = {{ kind = "prism-proxy" }}
receiver = {{ kind = "host" }}
{nodes}[links]
backbone = {{ between = ["server", "proxy"], {BACKBONE} }}
{links}[flows.download]
from = "server"
to = "receiver"
transport = "mptcp"
tcp = {{ window = "16 MB" }}
"#
    )
}

fn bbr(random: &mut RandomStream) -> String {
    let rate_mbps = log_uniform(random, RATES_MBPS);
    let line = link(random, rate_mbps);
    format!(
        r#"duration = "{SECONDS} s"
[nodes]
server = {{ kind = "host" }}
router = {{ kind = "router" }}
receiver = {{ kind = "host" }}
[links]
backbone = {{ between = ["server", "router"], {BACKBONE} }}
line = {{ between = ["router", "receiver"], shared = true, {line} }}
[flows.download]
from = "server"
to = "receiver"
congestion = "bbr"
tcp = {{ window = "16 MB" }}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::{bbr_mixes, mptcp_mixes};
    use prismux_scenario::{Scenario, ScenarioFile};

    fn scenario(file: &ScenarioFile) -> Scenario {
        file.scenario(None, &[]).unwrap()
    }

    #[test]
    fn mixes_are_scenarios_and_the_same_every_time() {
        for mixes in [mptcp_mixes, bbr_mixes] {
            let (files, again) = (mixes(1, 20), mixes(1, 20));
            assert!(files.iter().zip(&again).all(|(a, b)| scenario(a) == scenario(b)));
            assert!(scenario(&files[0]) != scenario(&mixes(2, 1)[0]));
        }
    }

    #[test]
    fn mptcp_has_two_or_three_links_and_bbr_one() {
        let links = |file: &ScenarioFile| scenario(file).plan.shared_links().len();
        let mptcp: Vec<usize> = mptcp_mixes(1, 20).iter().map(links).collect();
        assert!(mptcp.iter().all(|count| [2, 3].contains(count)) && mptcp.contains(&2) && mptcp.contains(&3));
        assert!(bbr_mixes(1, 20).iter().all(|file| links(file) == 1));
    }
}
