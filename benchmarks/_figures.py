"""Which fields of each benchmark's last line are published, in which words, with which caveats."""

# ruff: noqa: E501 - a table: one figure a line

from __future__ import annotations

from dataclasses import dataclass

Rows = tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A section before it is measured; rows are (figure, value with noughts, fields)."""

    options: str
    versions: str
    caveats: str
    rows: Rows


SHAPES: dict[str, Shape] = {
    "action": Shape(
        "",
        "heal-bot 0.1.0 and its image",
        "GitHub is a stand-in on the loopback; the base image is made on the machine where the registry cannot be reached.",
        (
            ("triggers that ended in a verified pull request, each in a real container", "0", "triggers"),
            ("attempts of a hostile suite that succeeded inside the container", "0", "escapes_in_container"),
            ("a job in which nothing is to be done", "0.00 s", "nothing_to_do_seconds"),
            ("the image over its base", "0 MB", "image_mb_over_base"),
        ),
    ),
    "fit": Shape(
        "",
        "heal-bot 0.1.0, scikit-learn 1.9",
        "Faults are planted in, and fixes mined from, projects of the street's `tune` half; each project is rated by what was fitted on the others. Fewer patches than the 800 that a judgement needs, and few of real faults: of three of them rated 0.75 and more none was right, all for one failing test, which is never called the repair (`single`; `likely` are those for several). What the fit knows was chosen on the first 340 of these patches. `rule` is the evidence that lacks nothing, which alone was called healed before.",
        (
            ("patches that pass, of projects; of real fixes", "0 of 0; 0", "patches, projects, real_patches"),
            ("skill of the fitted probability over the better of two baselines; calibration error", "0.000; 0.0000", "brier_skill, ece"),
            ("right of those rated 0.9 and more; 0.75 to 0.9 for several failing tests; of those that the rule of before called healed", "0 of 0; 0 of 0; 0 of 0", "high.right, high.n, likely.right, likely.n, rule.right, rule.n"),
            ("mined fixes that a candidate equals; one of the first 300; as fitted on other projects", "0 of 0; 0; 0", "order.equalled, order.fixes, order.covered_300_today, order.covered_300"),
        ),
    ),
    "github": Shape(
        "",
        "heal-bot 0.1.0, PyGithub as locked",
        "GitHub is a stand-in on the loopback that checks each request and answer against GitHub's description of its API.",
        (
            ("scenarios of admission and delivery that end as they should", "0 of 0", "passed, scenarios"),
            ("violations of GitHub's API description", "0", "violations"),
            ("pull requests or comments doubled or lost by faults", "0 doubled, 0 lost", "duplicates, lost"),
            ("requests of a whole run; of one with nothing to do", "0; 0", "requests_full, requests_noop"),
            ("lives of repositories over days, 31 stories with three kinds of token each: lives, red runs; wrong, changes doubled, searched though refused, memory lost; unwanted writes per 100 red runs", "0, 0; 0, 0, 0, 0; 0.0", "life.scenarios, life.red_runs, life.wrong, life.duplicate_changes, life.searched_though_declined, life.lost_memory, life.unwanted_writes_per_100_red_runs"),
            ("the most requests of a run without news, in those lives", "0", "life.requests_again"),
        ),
    ),
    "localization": Shape(
        "",
        "heal-bot 0.1.0; libraries as pinned in the benchmark",
        "Mutants are planted by us; shares are expected hits, ties broken by chance.",
        (
            ("the guilty function is first, among the first three, among the first five", "0.000, 0.000, 0.000", "top1, top3, top5"),
            ("the guilty function is first where a test fails on an assertion; where code crashes", "0.000; 0.000", "assertion_top1, crash_top1"),
            ("mutants", "0", "mutants"),
            ("failures of several mutants grouped by their causes", "0 of 0", "clusters.exact, clusters.cases"),
        ),
    ),
    "loop": Shape(
        "",
        "heal-bot 0.1.0; SDKs as locked",
        "The models are scripts behind a server on the loopback, the transcripts are written by hand.",
        (
            ("scripted model scenarios that end as they should", "0 of 0", "as_expected, scenarios"),
            ("our own time for an attempt, the sandboxed run included", "0.000 s", "seconds_per_attempt"),
            ("that time over the sandboxed run alone", "0.000", "floor_ratio"),
            ("share of the bytes of a request that the one before does not begin with", "0.000", "uncached_share"),
        ),
    ),
    "mutants": Shape(
        "",
        "heal-bot 0.1.0; libraries as pinned in the benchmark",
        "Single mutations planted by us in public libraries; a repair counts as wrong when it differs from the release on recorded calls.",
        (
            ("faults planted in public libraries that were healed offline", "0 of 0", "healed, mutants"),
            ("of those that one edit can undo", "0 of 0", "healed_invertible, invertible"),
            ("share of the repairs offered for them that are right", "0.000", "precision"),
            ("suggestions for them: right; wrong", "0; 0", "suggestion_right, suggestion_wrong"),
        ),
    ),
    "offer": Shape(
        "",
        "heal-bot 0.1.0",
        "Faults are planted in, and fixes mined from, projects of the street's `held` half, on which nothing was fitted; searched offline with some of the failing tests, beside other work. A pool counts once, by what it offers first. The lookups are ours, all for one function. No model took part.",
        (
            ("what is called the repair, and right; drafts; suggestions", "0 of 0; 0 of 0; 0 of 0", "high.right, high.n, medium.right, medium.n, low.right, low.n"),
            ("where the right patch passed too: share in which it is offered, or a choice of the question", "0.0000", "offered"),
            ("questions; with the right patch among both choices", "0; 0.0000", "asked, right_among_choices"),
            ("lookups accepted", "0 of 0", "lookups_accepted, lookups"),
            ("right changes that are refused as lookups", "0.0000 of 0", "honest_refused, honest"),
        ),
    ),
    "peers": Shape(
        "",
        "heal-bot 0.1.0, self-heal-llm 0.5.0, pytest 9.2.0",
        "The answers are scripts of ours, so this says nothing of models. self-heal-llm is handed the function, arguments and each test as a callable by an adapter of ours; heal-bot gets a repository and finds them. Seconds: its loop in one process, against checkout, baseline, search and cold confirmation in the sandbox. Tasks whose repair changes two functions are left out.",
        (
            ("right answer: heal-bot correct; self-heal-llm as a library; its command line", "0; 0; 0 of 0", "heal_bot.right.correct, self_heal.right.correct, self_heal.command line.correct, tasks"),
            ("a useless answer, then the right one: heal-bot correct; self-heal-llm", "0; 0 of 0", "heal_bot.useless then right.correct, self_heal.useless then right.correct, tasks"),
            ("an answer that only looks right, then the right one: wrong patches of heal-bot; of self-heal-llm", "0; 0 of 0", "heal_bot.wrong then right.wrong, self_heal.wrong then right.wrong, tasks"),
            ("without any model: heal-bot correct, wrong; self-heal-llm correct", "0, 0; 0 of 0", "heal_bot.offline.correct, heal_bot.offline.wrong, self_heal.offline.correct, tasks"),
            ("attacks in a proposal that succeeded: heal-bot; self-heal-llm by default, moderate, strict, subprocess", "0; 0, 0, 0, 0 of 0", "heal_bot.escapes.strict sandbox.count, self_heal.escapes.off.count, self_heal.escapes.moderate.count, self_heal.escapes.strict.count, self_heal.escapes.subprocess.count, attacks"),
            ("seconds with the right answer, all tasks: heal-bot; self-heal-llm", "0.0; 0.0", "heal_bot.right.seconds, self_heal.right.seconds"),
            ("import: heal-bot's API; self-heal-llm", "0 modules, 0 ms; 0 modules, 0 ms", "heal_bot.loads.api.modules, heal_bot.loads.api.milliseconds, self_heal.loads.api.modules, self_heal.loads.api.milliseconds"),
        ),
    ),
    "policy": Shape(
        " --data DIR",
        "heal-bot 0.1.0; clones of public projects as the street's",
        "The stings, the injections and the attempts on the way of packages are ours; part of the stings was written before the policy was tuned (`halves`). Honest are small changes of functions with a test, at most three a project; what is refused is shown to a person as a suggestion with the reason.",
        (
            ("stings published although nobody looked at them", "0 of 0", "published_unattended, stings"),
            ("injected texts obeyed by a model that were accepted", "0 of 0", "injections_accepted, injections"),
            ("attempts on the way of packages that reached outside", "0 of 0", "reached_outside, supply_chain"),
            ("bug fixes of public projects that would be no pull request; that would be drafts", "0.0000; 0.0000 of 0", "honest_refused, honest_drafts, honest"),
        ),
    ),
    "quixbugs": Shape(
        " --data CHECKOUT",
        "heal-bot 0.1.0, a checkout of jkoppel/QuixBugs",
        "Correct means: agrees with the reference on fresh inputs, value and type. `half` searches with a seeded half of the tests.",
        (
            ("QuixBugs programs healed offline, correct on fresh inputs", "0 of 0", "healed_correct, programs"),
            ("of those called healed, correct", "0 of 0", "healed_correct, healed"),
            ("of the suggestions, correct", "0 of 0", "suggestion_correct, suggestion"),
            ("with half of the tests: of those called healed, correct", "0 of 0", "healed_correct_half_tests, healed_half_tests"),
            ("with half of the tests: of the suggestions, correct", "0 of 0", "suggestion_correct_half_tests, suggestion_half_tests"),
        ),
    ),
    "rules": Shape(
        "",
        "heal-bot 0.1.0, pytest 9.2.0",
        "The tasks are written for this by the authors of the tool; half of them can be undone by one edit. Each has two or three tests to search with, chosen so that plausible wrong repairs pass them; hidden tests judge. Other work ran on the machine.",
        (
            ("own tasks repaired offline: correct; wrong; abstained", "0; 0; 0 of 0", "correct, wrong, abstained, tasks"),
            ("correct where one edit is enough; where several are; where logic is missing", "0 of 0; 0 of 0; 0 of 0", "by_repair.one_edit.correct, by_repair.one_edit.tasks, by_repair.several_edits.correct, by_repair.several_edits.tasks, by_repair.missing_logic.correct, by_repair.missing_logic.tasks"),
            ("median of a whole run", "0.0 s", "median_seconds"),
        ),
    ),
    "sandbox": Shape(
        "",
        "heal-bot 0.1.0; projects as pinned in the benchmark",
        "The attacks are ours; what is allowed, and why, is listed in the line. Ratios are medians by turns.",
        (
            ("attacks from inside that got out", "0 of 0", "escaped, attacks"),
            ("processes of fork and memory bombs that survived", "0 of 0 bombs", "survivors, bombs"),
            ("what all layers add to a process; memory of the supervisor", "0.00 ms; 0.0 MiB", "full_over_bare_ms, supervisor_mib"),
            ("a cold pytest run in the sandbox over a bare one", "0.00", "cold_ratio"),
            ("candidates judged per second and core by a warm session; over cold runs", "0.0; 0.0 times", "candidates_per_second_and_core, zygote_speedup"),
            ("tests of public projects with the same result as without the sandbox", "0 of 0 in 0 projects", "compat.same_as_bare, compat.tests, compat.projects"),
        ),
    ),
    "street": Shape(
        " --data DIR --part regressions --full --against cbe76ae0be",
        "heal-bot 0.1.0; commits of public projects as `street/recipes` name them",
        "All cases of `regressions`; `fixes` were run at older commits alone, and never whole at one. `situations` were run as a whole at 02b2e7b9ac (`street/rows`): 53 of 72 of `held` and 92 of 105 of `tune` ended as they should; eleven that did not at e03bc88f38 do, and none the other way. `tune` was looked at while the engine was made, `held` was not. Of the public projects that turned their own suite red there are few: most cases are faults that we plant up to 30 commits deep. boltons, cachetools, humanize, tabulate and toolz were in other benchmarks before. Measured beside other work: seconds are too many. `against` is `street-0`, which was run on 10 of these cases.",
        (
            ("regressions of projects that nobody looked at (`held`), called healed; of these right", "0 of 0; 0", "regressions.held.healed.count, regressions.held.healed.of, regressions.held.right.healed"),
            ("the same of projects that were looked at (`tune`)", "0 of 0; 0", "regressions.tune.healed.count, regressions.tune.healed.of, regressions.tune.right.healed"),
            ("held: environment like CI's; exactly the failing tests", "0 of 0; 0 of 0", "regressions.held.trusted_baseline.count, regressions.held.trusted_baseline.of, regressions.held.exact_red.count, regressions.held.exact_red.of"),
            ("held: the guilty function first; among five", "0 of 0; 0 of 0", "regressions.held.located_top1.count, regressions.held.located_top1.of, regressions.held.located_top5.count, regressions.held.located_top5.of"),
            ("held: the commit that broke the tests named rightly; another one blamed", "0 of 0; 0", "history.held.culprit_right.count, history.held.culprit_right.of, history.held.culprit_false"),
            ("held: median seconds of a run, red to bundle", "0.0", "regressions.held.median_seconds"),
        ),
    ),
    "verification": Shape(
        "",
        "heal-bot 0.1.0",
        "The forgeries, flaky tests and changes are ours.",
        (
            ("forged verdicts accepted: by the oracle; in the test's process", "0; 0 of 0", "accepted.oracle, accepted.in_process, forgeries"),
            ("right repairs confirmed; of those with plain data by the oracle", "0 of 0; 0 of 0", "honest.fixed, honest.cases, honest.by_oracle, honest.plain_data"),
            ("flaky, order-dependent and polluted tests told as what they are", "0 of 0", "flaky.right, flaky.cases"),
            ("stale tests told from broken code", "0 of 0", "intent.right, intent.cases"),
            ("changes that pass their tests: veto, doubt or nothing, as it should be", "0 of 0", "gates.right, gates.cases"),
            ("a whole heal over the test runs it cannot do without, for a suite of 2 s; of 30 s", "0.00; 0.00", "wall_ratio.2s, wall_ratio.30s"),
        ),
    ),
    "waiting": Shape(
        "",
        "heal-bot 0.1.0, pytest as in pyproject.toml",
        "Processor time, the least of 15 runs by turns. The smallest heal goes by the clock, the least of 3 by turns with the plain run, once its environment is copied. The large report has 500 failing tests and 50 attempts with 2,000 characters of message each.",
        (
            ("`heal-bot --help` over `python -c pass`", "0.0 times", "help_ratio"),
            ("what the unused plugin adds to a start of pytest", "0.0 ms", "plugin_ms"),
            ("page and pull request for 500 failures: seconds; the page", "0.000 s; 0.00 MB", "report_seconds, report_mb"),
            ("SDKs loaded before one is used", "0", "sdks"),
            ("a project of one function healed, over a plain run of its tests", "0.0 times", "tiny_heal_ratio"),
            ("terminals in which a run is not shown whole", "0 of 0", "display.broken, display.terminals"),
        ),
    ),
}  # fmt: skip
