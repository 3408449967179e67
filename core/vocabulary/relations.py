"""Words that say the same, something else, or the contrary."""

from __future__ import annotations

from core.vocabulary.written import word_groups, word_list

NEGATIONS = frozenset(
    word_list(
        """not no never none nothing nobody nowhere neither nor without cannot cant dont doesnt didnt wont
        isnt arent wasnt werent wouldnt shouldnt couldnt havent hasnt hadnt unable lacks lacking except"""
    )
)
"""Words that turn a statement around; words in `n't` count as well."""

SYNONYMS: tuple[frozenset[str], ...] = tuple(
    frozenset(line.split())
    for line in word_groups(
        """enable activate active on engage; disable deactivate off inactive; remove delete erase clear
        flush empty purge wipe rid discard eliminate drop cancel del deletion removal; add insert append put
        attach include introduce provide place; create make build generate produce construct new
        creation write define; change modify edit alter adjust customize update switch convert
        transform set configure define regulate replace; update upgrade renew refresh; install setup;
        show display view see list print output visible appear preview; find locate search look get
        obtain retrieve fetch access read check discover seek detect; hide conceal hidden invisible
        disappear; stop halt quit exit end terminate kill shutdown finish abort close; stop prevent
        avoid suppress silence protect against keep restrict limit block ignore; start launch begin boot
        run execute open fire; restart reboot reload relaunch; fix solve resolve repair correct
        troubleshoot deal handle overcome recover restore; error exception failure problem issue trouble
        fault bug crash fail broken wrong; fast quick speed faster quickly rapid performance; slow
        slowly long slower; large big huge larger bigger size; small little tiny smaller; allow permit
        enable let; deny reject refuse forbid disallow; choose pick select decide; undo revert rollback
        rolled; store save keep kept put archive; send return deliver pass submit give post; load read
        import parse get; combine join merge concatenate link together; split break divide separate
        individual; organize structure arrange lay layout sort order schedule plan; required mandatory
        necessary must compulsory need; optional voluntary; copy duplicate clone replicate; move
        transfer migrate port; rename name; before prior earlier; after following afterwards later; each
        every all any; different other another differ difference; folder directory dir; picture photo
        image pic photograph img; website site webpage page web; computer pc machine laptop desktop;
        phone smartphone mobile cellphone cell; app application program software tool; account profile
        acc; password passphrase passwd; message msg sms text chat conversation; mail email e-mail
        inbox; film movie video clip; font typeface; background backdrop wallpaper; friend contact buddy
        pal; contact touch reach communicate; secure safe security protect; buy purchase; explain
        describe meaning mean definition stand; internet net online; repo repository; config
        configuration setting; auth authentication authenticate login; param parameter argument arg;
        func function; var variable; env environment; db database; doc documentation document; dev
        development; prod production; admin administrator; max maximum limit cap; min minimum; async
        asynchronous asynchronously; sync synchronous synchronously synchronize; info information data
        details; own custom specific personal; color colour; text string; kid child children; car auto
        vehicle; advise suggest recommend recommendation tip; support supported compatible work works;
        type kind sort; use usage apply employ utilize; number amount count; several multiple many
        various; entire whole complete full completely; automatically automatic auto automated;
        permanently permanent forever completely; point place spot location position; area region
        section part; advantage benefit good pro argument; measure calculate determine compute; hash
        digest; tell check know determine find whether; draw paint sketch; listen hear play; talk speak
        chat; watch view see look; block restrict filter; share publish post; follow track watch
        monitor; notify notification alert inform notice; register signup join enroll; access view open
        reach see; visit go open; quote cite; cross strike strikethrough striked; letter character char;
        user person people someone member; return result yield; shorten reduce decrease; wait delay
        pause sleep; feature function option functionality; client customer; document file; hour hourly;
        day daily; week weekly; month monthly; year yearly annual; forget forgot forgotten lost; choose
        define specify set; hang freeze stuck; extract unpack
        decompress unzip"""
    )
)
"""Words of which one may stand for the other in a question; a word may be in several lines."""

RIVALS: tuple[frozenset[str], ...] = tuple(
    frozenset(line.split())
    for line in word_groups(
        """table column row index trigger schema view constraint partition sequence; user role group
        permission team; request response header cookie session body; query path form; second minute
        hour day week month year; hourly daily weekly monthly yearly; monday tuesday wednesday thursday
        friday saturday sunday; class function method interface module package decorator enum; string
        integer float boolean dict array tuple number; blueprint template filter handler command
        extension route signal middleware; commit branch tag stash remote submodule; merge rebase squash
        cherry-pick; image video audio; background border margin padding shadow outline; title footer
        header sidebar navbar menu; browser terminal shell console; password username email; red green
        blue yellow black white; inner outer left right cross; email postal phone; development staging
        testing production; client server proxy; unit integration; post comment story; thread process
        coroutine; volume image container pod; disk memory cpu network; text binary; name date size type
        id; domain subdomain host port; width height depth; certificate key token; desktop mobile"""
    )
)
"""Words of one kind: where two questions differ in them, they ask about different things."""

OPPOSITES: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(left.split()), frozenset(right.split()))
    for left, _, right in (
        line.partition("|")
        for line in word_groups(
            """enable activate on|disable deactivate off; add insert create install invite|remove delete
        uninstall erase drop kick ban; show display appear reveal unhide|hide conceal disappear rid
        remove; before|after; upgrade|downgrade; update|rollback revert; allow permit unblock accept
        whitelist enable|deny forbid block reject refuse prevent blacklist ban disallow disable;
        block|unblock; start launch begin boot|stop halt quit shutdown terminate kill; encode|decode;
        encrypt|decrypt; serialize dump|deserialize load; import|export; upload|download; input|output;
        read|write; reader|writer; client|server; min minimum|max maximum; local|remote global; dev
        development debug test staging|prod production; sync synchronous|async asynchronous;
        public|private; push|pull; open|close; login signin|logout signout; lock|unlock;
        subscribe|unsubscribe; mute|unmute; pin|unpin; first|last; oldest|newest latest; old|new;
        left|right; up|down; top|bottom; inner inside|outer outside; horizontal horizontally|vertical
        vertically; ascending asc|descending desc; increase raise higher more|decrease reduce lower
        less; expand|collapse; attach|detach; mount|unmount umount; compress zip pack|decompress unzip
        extract unpack; previous prior former|current present; previous prior|next upcoming;
        commit|rollback; grant|revoke; throw raise|catch; archive|restore unarchive;
        backup|restore; save|load; send|receive; merge join combine|split divide; connect|disconnect;
        required mandatory|optional; internal|external; inbound incoming|outbound outgoing;
        ingress|egress; manual manually|automatic automatically; static|dynamic; parent|child;
        source|target destination; row|column; width|height; online|offline; temporary
        temporarily|permanent permanently; soft|hard; shallow|deep; single one|multiple many; longest
        longer long maximum|shortest shorter short minimum; largest larger large bigger|smallest smaller
        small; fast faster|slow slower; sleep|wake; frontend|backend; front|back; upstream|downstream;
        primary|secondary foreign replica; forward|reverse backward; positive|negative;
        absolute|relative; mutable|immutable; default|custom; light|dark; free|paid; true|false;
        even|odd; buy|sell; request|response; key|value; read-only readonly|read-write readwrite
        writable; unread|read; stdin|stdout stderr; positional|keyword; normal regular|super superuser
        admin; empty|full; always|never; both|either; lowercase lower|uppercase upper; begin
        beginning|end; increment|decrement; minimize|maximize; follow|unfollow; sign|unsign verify;
        child children|parent parents; success|failure; inclusive including include|exclusive excluding
        exclude; master|slave; plus|minus; indent|dedent unindent; tab tabs|space spaces; win|lose;
        float|int integer; vm|container; bottleneck|speedup; cold|hot warm; early eager|late lazy"""
        )
    )
)
"""Words of which one question may not have the left and the other the right."""
