"""The words by which names of columns speak of health, money, conduct, opinions, measurements, studies and weights.

Lists for `column_names.find_word`: a star stands for the rest of a word, and words of several parts are written as one.
`column_names` has the lists that recognising persons needs too: what outsiders know, what they must not learn, numbers.
"""

from __future__ import annotations

NAMING = """
    email mail emailaddress phone telephone tel telefon* telefono telephon* mobile mobilephone handy fax ssn
    socialsecurity* svnr ahv ahvnr iban accountnumber kontonummer creditcard cardnumber passport* reisepass
    pasaporte passeport surname lastname firstname fullname givenname middlename familyname maidenname birthname
    forename* nickname initials vorname nachname familienname geburtsname prenom nomdefamille apellido apellidos
    cognome achternaam voornaam username login address* addr streetaddress homeaddress adresse* anschrift direccion
    indirizzo street strasse rue housenumber hausnummer ip ipaddress uuid guid mrn medicalrecord* nhsnumber
    patientnumber patientennummer steuernummer dni nif codicefiscale bsn cpf licenseplate numberplate kennzeichen
    licensenumber bib bibnum bibnumber startnummer
"""
NAMES = "name names nom nombre nome naam"
NAMED_THINGS = """
    clinic* klinik* hospital* ward station department* dept abteilung* unit division site center centre zentrum
    practice praxis school* schule* university college faculty institut* company firma employer organi* agency
    office branch shop store brand product* item* model make team club league event* race course class* subject*
    topic title job position occupation* city town village ort stadt district* county state province region* country
    countries land area neighborhood neighbourhood precinct borough parish place* location street* road species
    animal* pet breed taxon drug* medication* disease* diagnos* test* lab* assay study trial project program*
    programme* survey* file* table column* variable* field* sheet dataset data series category type group* status
    device* sensor* vehicle* car plant* industry sector insurance plan payer payor bank currency language* day month
    weekday
"""
"""What a name may be of that is no person: the name of a clinic says where, not who."""
NAMED_PERSONS = """
    first last full given family middle maiden sur fore birth nick user child father mother parent spouse husband
    wife relative contact physician doctor nurse teacher author holder owner buyer seller borrower tenant passenger
"""

SURVEY_WEIGHTS = """
    sampleweight* samplingweight* sampwt* sampweight* surveyweight* svyweight* svywt* designweight* dweight*
    pweight* pspwght* pspweight* dwght* pwght* anweight* perwt hhwt fnlwgt finalwt finalweight* finalwgt* wtfinal
    wtss* wtssall expansionfactor* probweight* populationweight* personweight* poststratweight* hochrechnung*
    hochrechnungsfaktor gewichtungsfaktor raking* calibrationweight* replicateweight* repwt* repwgt* wgt wgts wght
    perweight weightvar
"""
WEIGHTS = "weight weights wt wgt wts poids peso gewicht ponderacion ponderation"
BODIES = "height ht bmi bodymass* body* waist hip groesse grosse taille altura"

HEALTH = """
    dx* *dx icd* diabet* hepatit* hypertens* hypertonie* highbp highbloodpressure hichol highchol* cancer* *cancer
    krebs* tumor* tumour* carcinom* asthma* copd stroke* angina infarct* cardiac* cardiovascular* heart
    heartdisease* heartattack* heartfailure* arrhythm* depress* anxiety* anxious schizo* bipolar* dement* alzheimer*
    parkinson* epilep* seizure* arthrit* arthros* tubercul* tb pneumon* covid* influenza* flu malaria* infect*
    sepsis anaem* anemi* leukaem* leukem* lymphom* melanom* metasta* renal* kidney* liver* cirrh* obes* migrain*
    headache* ulcer* chronic* comorb* multimorbid* illness* ill illdays sickdays sickleave unhealth* health
    gesundheit* sante salud disab* handicap* limitation* adl injur* trauma* wound* fracture* pregnan* abortion*
    miscarr* stillb* syphil* gonorrh* herpes* chlamyd* addict* substance* alcohol* ethanol* drinks drinking drugs
    drug* cocaine heroin opioid* opiate* cannabis marijuana overdose* suicid* selfharm mental* psychiatr* psychos*
    psychot* neuro* surgery* surgical* surg operation* transplant* chemo* chemother* radiother* relapse* recurr*
    remission* hospitalis* hospitaliz* adverse* sideeffect* complication* pain pains painscore *pain cough* *cough
    fever* nausea* vomit* fatigue* rash* diarrh* bleeding* edema* oedema* ascites* allerg* symptom* syndrom* vaccin*
    immuni* genotyp* mutation* contracept* menopaus* sexual* sexrisk affairs insomnia autis* adhd hiv* aids *disease
    *diseases *itis *emia *aemia *oma *osis *health hlth* bronch* polio nervous* bowel* hbp dysuria itch* lesion*
    condom condoms amnesi* unconscious* consciousness *fibrillation* cmv *gvhd abuse* physlim physlm overweight
    wtloss weightloss weightgain premie* prematur* preterm lbw vlbw lowbirth* stillbirth coma *coma* relaps* rape
    survived deceased *hlth *chron diag diab strep* uti utis *eclamp* eclamp* adldiff alc alcoh* drks viral*
    incest concussion* birthcontrol* hbp* *chronic sti stis std stds npartner* sexpartner* lymph* vagina* palsy*
    paralys* deaf* blind* hearing* eyesight*
"""
MONEY = """
    *wage *wages *salary *income* *incom inc hhinc* faminc* tinc rinc pay payrate *earnings *revenue hourlyrate
    dailyrate weeklyrate monthlyrate rateofpay bonus* stockoption* salaryhike* payrise* tax taxes taxable* *debt
    debts asset assets *assets balance creditlimit creditrating creditcards loan loans loanamount mortgage* wealth*
    networth savings overdraft* expense expenses expend* *expenditure* spending* hhexp *hhexp welfare* *charges bill
    billing fine bankaccount* vermogen* schulden* hhninc linc appinc totinc credit creditline* creditlines*
    creditinquir* inquir* inq *amnt *principal latefee* pastdue* debit* *debit debitaccount* collections totalbal*
    openil* cash homevalue housevalue propertyvalue lnwg lwg
    numil* ccaccounts revolutil* *util utilization* creditutil* fundedamnt* *rinc *realinc overdraw*
    creditaccount* delinq* overdue* arrears* repay* installment* interestrate* intrate mortg* revolv* collateral*
"""
CONDUCT = """
    crime* crimin* offens* offenc* offend* arrest* convict* citation* violation* prison* jail* probation* parole*
    recidiv* felon* misdemean* search* *search warrant* indict* sentence* performance* *rating rating appraisal*
    priors priorarrest* priorconvict* timeserved tserved misconduct* default defaulted delinquen* fraud* bankrupt*
"""
OPINIONS = """
    vote* *vote ideo racis* *racism prejudic* religimp* prayer* partyid party* polit* polview* ideolog* leftright
    opinion* attitude* approv* satisf*
    *satisfaction *happy happiness* trust* involvement* engagement* worklifebalance wellbeing* lifesat*
    agree* stance feelings thermometer* churn churned
"""

MEASURED = """
    lengthofstay los stay duration* dauer verweildauer duree temperature* pressure bloodpressure systolic diastolic
    pulse heartrate glucose cholesterol hemoglobin haemoglobin creatinine score scores dose dosage lab measurement*
    messwert* sensor reading* waittime math mathscore readscore *gpa
    sat satv satm satq gre gmat lsat vocab* testscore* mathtest readtest
"""
"""Measurements where the values are numbers."""
CARED = "visits *visits docvis hospvis mdvis *mdvis hospitalstays admissions consultations"
"""How often someone used health care, where the values are numbers."""
EXAMINED = """
    sbp dbp sysbp diabp bpsys* bpdia* heartrate pulse* glucose* gluc insulin* hba1c cholest* chol hdl* ldl* triglyc*
    trig trigs hemoglob* haemoglob* hgb hematocrit* haematocrit* hct wbc* rbc* platelet* plt neutroph* lymphocyt*
    eosin* creatin* creat egfr gfr urea bun sodium potassium calcium chloride phosph* alkphos alkalinephos*
    bilirubin* bili albumin* protein* proteinuria ast alt sgot sgpt ggt ldh crp esr tsh ferritin* copper protime
    prothromb* inr ptt psa cea afp cd4* cd8* viralload* titer* titre* serum* plasma* urine* biopsy* histol*
    biomarker* ecg* ekg* eeg* ejection* lvef spirom* fev fev1 fvc spo2 oxygen* saturation* radiolog* radiogr* xray* mri
    ultraso* cavitat* resistance* culture sputum conc concentr* glyco* dosage* dose* dosis posolog* toxic* karnofsk*
    ecog nyha apache* sofa gcs glasgow* apgar* asa mallampat* cesd* bdi* phq* gad7 mmse madrs hamd hamilton* hads
    sf36* sf12* mcs pcs pss eq5d* womac vas nihss barthel* qol* lymphnode* receptor* hormone* estrogen* tumorsize
    tumorstage rna dna cytok* bp glu alb zinc magnesium bic bicarb* po2 pco pco2 pgr mspike kappa lambda fsh
    gleason* ploidy* karno* hrtrate virus* *virus iq iqscore viq piq hormon* gestation* embryo* oocyt* antibod*
    antigen* baseline* followup* placebo* randomi* randfl treat treated *treat treatarm treatmentarm trt* rx arm
    ittfl saffl param paramcd parcat* aval avalc visitnum reactiontime outcome* endpoint* improv* censor* survtime
    survival* futime
"""
"""Findings and doses, whatever their values are."""
TREATED = "rx arm trt trt* treat treatment treatarm treatmentarm placebo* randomi* randfl"
"""That a study gives treatments."""
FOLLOWED_FOR = "*time times days months weeks week durat duration survival* followup* follow tte tstop stop"
FOLLOWED_TO = "*stat *status cens censor* event* death dead died fail failure relapse* recur* arrest delta survived"
"""How long a study follows a person, and whether the event came: the two together tell such a study."""
STUDIED = """
    time times days status event events stage staging grade nodes node* extent differ* size type etype response*
    result* group interval visit arm score scores number total sum index change delta progress* death dead died cens
    count tstart tstop start stop *time surviv* emergenc* wait waiting prior trial
"""
"""What a table about health calls its times and outcomes: these words say little elsewhere."""
