//! The same networks in ns-2 and ns-3.
use super::{DELAY, LIMIT_PACKETS, Measured, RATE, RED_LIMIT_PACKETS, WARM};
use prismux_link::Red;
use prismux_units::Duration;
use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

const NS2_SCRIPT: &str = include_str!("queues.tcl");
const NS3_SCRIPT: &str = include_str!("queues_ns3.py");

/// Where the scripts are; removed in the end.
pub struct References(PathBuf);

impl References {
    /// Finds ns-2 and writes the scripts.
    pub fn new() -> Result<Self, Box<dyn Error>> {
        if Command::new("ns").arg("/dev/null").output().is_err() {
            let advice = "install it (on Debian and Ubuntu: apt-get install ns2) to compare with it";
            return Err(format!("no ns-2 here: {advice}").into());
        }
        let folder = Self(std::env::temp_dir().join(format!("prismux-queues-{}", std::process::id())));
        std::fs::create_dir_all(&folder.0)?;
        std::fs::write(folder.0.join("queues.tcl"), NS2_SCRIPT)?;
        std::fs::write(folder.0.join("queues_ns3.py"), NS3_SCRIPT)?;
        Ok(folder)
    }

    /// RED in ns-2.
    pub fn ns2(&self, flows: u32, red: Red, span: Duration, seed: u64) -> Result<Measured, Box<dyn Error>> {
        let mut arguments = common(flows, span, seed);
        arguments.push(format!("wait={}", u8::from(red.wait)));
        arguments.push(format!("mean_bytes={}", red.mean_packet_bytes.unwrap_or(0)));
        arguments.push(format!("automatic={}", u8::from(red.automatic)));
        arguments.push(format!("limit={RED_LIMIT_PACKETS}"));
        let numbers = self.run(Command::new("ns").arg("queues.tcl").args(arguments))?;
        let [waiting_packets, used, drops, timeouts] = numbers[..] else {
            return Err(format!("not four numbers of ns-2: {numbers:?}").into());
        };
        Ok(Measured { waiting_packets, used, drops, timeouts })
    }

    /// The queue discipline of this name in ns-3, of which `python` has the package; without timeouts.
    pub fn ns3(
        &self,
        python: &str,
        flows: u32,
        discipline: &str,
        span: Duration,
        seed: u64,
    ) -> Result<Measured, Box<dyn Error>> {
        let mut arguments = common(flows, span, seed);
        arguments.push(format!("discipline={discipline}"));
        arguments.push(format!("limit={LIMIT_PACKETS}"));
        let numbers = self.run(Command::new(python).arg("queues_ns3.py").args(arguments))?;
        let [waiting_packets, used, drops] = numbers[..] else {
            return Err(format!("not three numbers of ns-3: {numbers:?}").into());
        };
        Ok(Measured { waiting_packets, used, drops, timeouts: 0.0 })
    }

    /// The numbers behind the word RESULT.
    fn run(&self, command: &mut Command) -> Result<Vec<f64>, Box<dyn Error>> {
        let output = command.current_dir(&self.0).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let numbers = text.lines().find_map(|line| line.strip_prefix("RESULT "));
        let numbers =
            numbers.ok_or_else(|| format!("no result: {}", String::from_utf8_lossy(&output.stderr)))?;
        Ok(numbers.split_whitespace().map(str::parse).collect::<Result<_, _>>()?)
    }
}

fn common(flows: u32, span: Duration, seed: u64) -> Vec<String> {
    vec![
        format!("flows={flows}"),
        format!("rate_mbps={}", RATE.as_bps() / 1_000_000),
        format!("delay_ms={}", DELAY.as_millis()),
        format!("warm={}", WARM.as_secs_f64()),
        format!("until={}", span.as_secs_f64()),
        format!("seed={seed}"),
    ]
}

impl Drop for References {
    fn drop(&mut self) {
        // Nothing is lost if a temporary folder stays.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
